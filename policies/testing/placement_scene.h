// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {

/// For tests: one partition, where some jobs run and others ask a placement policy for a place;
/// figures by hand.
struct PlacementScene {
  /// Speeds of made-up models. Beside others on one of its GPUs a job has the least of pair(), over
  /// several servers besides half of that; on a K80 a tenth.
  struct Speeds final : SpeedModel {
    Topology topology;
    explicit Speeds(const Topology& t) : topology(t) {}

    static double pair(const std::string& own, const std::string& other) {
      if (own == "brute" || other == "brute") return 0.05;
      if (other == "calm") return 0.9;
      if (other == "loud") return own == "loud" ? 0.3 : 0.4;
      return 0.8;
    }
    [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                              const Neighbours& beside) const override {
      double relative = 1;
      for (const Neighbour& other : beside) {
        for (const GpuId gpu : placement) {
          if (std::binary_search(other.placement.begin(), other.placement.end(), gpu)) {
            relative = std::min(relative, pair(job.model, other.job.model));
          }
        }
      }
      if (topology.server_of(placement.front()) != topology.server_of(placement.back())) {
        relative /= 2;
      }
      const GpuTypeId type = topology.type_of(placement.front());
      if (topology.gpu_types()[type.value].name == "K80") relative /= 10;
      return {relative, 0};
    }
  };

  Topology topology;
  Occupancy gpus;
  std::vector<JobSpec> specs;
  std::vector<JobView> waiting, running;
  Speeds speed;

  PlacementScene(std::vector<ServerGroup> groups, std::uint32_t gpus_per_server)
      : topology(make(std::move(groups), gpus_per_server)),
        gpus(topology, {0, topology.server_count()}, 2),
        speed(topology) {
    specs.reserve(16);
  }
  static Topology make(std::vector<ServerGroup> groups, std::uint32_t gpus_per_server) {
    GeneratorOptions options;
    options.groups = std::move(groups);
    options.gpus_per_server = gpus_per_server;
    return generate_flat(options).value();
  }
  JobSpec& add(const std::string& model, std::uint32_t count, Placement runs = {}) {
    JobSpec spec;
    spec.id = JobId{1, specs.size() + 1};
    spec.workers = count;
    spec.model = model;
    specs.push_back(spec);
    JobView view;
    view.spec = &specs.back();
    view.order = specs.size();
    if (!runs.empty()) gpus.take(runs);
    view.placement = std::move(runs);
    (view.placement.empty() ? waiting : running).push_back(view);
    return specs.back();
  }
  std::vector<Start> starts(const std::string& policy) const {
    const auto made = make_policy_registry().make(policy);
    REQUIRE_MESSAGE(made.ok(), policy);
    const View view{topology, gpus, waiting, running, {}, speed, Instant{}, AgentId{0}};
    Rng rng(1);
    std::vector<Start> out;
    for (const Decision& d : made.value()->decide(view, {}, rng)) out.push_back(std::get<Start>(d));
    return out;
  }
  /// Where the only waiting job starts; empty: it waits.
  Placement place(const std::string& policy) const {
    const auto all = starts(policy);
    REQUIRE(all.size() <= 1);
    return all.empty() ? Placement{} : all.front().placement;
  }
};

/// GPUs by their numbers.
inline Placement on_gpus(std::initializer_list<std::uint32_t> gpus) {
  Placement out;
  for (const std::uint32_t gpu : gpus) out.push_back(GpuId{gpu});
  return out;
}

}  // namespace starling
