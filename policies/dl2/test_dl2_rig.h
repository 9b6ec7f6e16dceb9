// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interference/dl2_physics.h"
#include "interference/models.h"
#include "policies/elastic/division.h"
#include "scheduling/packing.h"
#include "topology/generate/generate.h"

namespace starling {

/// For tests: so many servers of DL2's testbed, two GPUs (whose type its physics does not ask
/// about) and eight CPUs each, and jobs that wait
/// there, each as a share of a round.
struct Dl2Rig {
  explicit Dl2Rig(std::uint32_t servers) : topology(make(servers)), gpus(topology, {0, servers}) {}

  /// One of `model` that may have up to `most` workers and servers, of two GPU-hours.
  JobSpec& add(const std::string& model, std::uint32_t most, double age_s = 0) {
    JobSpec& job = specs.emplace_back();
    job.id = JobId{1, specs.size()};
    job.model = model;
    job.workers = 2;
    job.min_workers = 1;
    job.max_workers = most;
    job.cpus_per_worker = 2;
    job.run.max_servers = most;
    job.run.server_cpus = 2;
    job.duration = std::chrono::hours(1);
    ages.push_back(from_seconds(age_s));
    return job;
  }
  /// Of all jobs, as the first division of a round has them.
  std::vector<ElasticShare> shares() {
    views.clear();
    std::vector<ElasticShare> out;
    views.reserve(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
      JobView& view = views.emplace_back();
      view.spec = &specs[i];
      view.submitted = now - ages[i];
      view.order = i + 1;
      ElasticShare share;
      share.job = &view;
      share.least = specs[i].min_workers;
      share.most = specs[i].max_workers;
      share.left_s = seconds(specs[i].duration);
      out.push_back(share);
    }
    return out;
  }
  [[nodiscard]] ElasticCapacity all() const {
    return {2.0 * topology.server_count(), 8.0 * topology.server_count()};
  }
  [[nodiscard]] View view() const { return {topology, gpus, {}, {}, {}, *speed, now, AgentId{0}}; }

  static Topology make(std::uint32_t servers) {
    GeneratorOptions options;
    options.groups = {{servers, "V100"}};
    options.gpus_per_server = 2;
    options.cpus = 8;
    return generate_flat(options).value();
  }

  Topology topology;
  Occupancy gpus;
  Instant now = Instant{} + std::chrono::hours(10);
  std::unique_ptr<Physics> physics = make_dl2_physics(topology);
  std::unique_ptr<SpeedModel> speed = make_true_speed(*physics);
  std::vector<JobSpec> specs;
  std::vector<Duration> ages;
  std::vector<JobView> views;
};

}  // namespace starling
