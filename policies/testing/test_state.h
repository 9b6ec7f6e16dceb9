// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interference/speed.h"
#include "scheduling/packing.h"
#include "scheduling/policy.h"
#include "topology/free_servers.h"
#include "topology/partition.h"
#include "workload/job_size.h"
#include "workload/work_progress.h"

namespace starling {

/// Of TestWorld: a job and a partition, what a policy is shown of them, and what it may do.
struct TestJob {
  JobSpec spec;
  Instant submitted, started, finished = kNever;
  std::uint32_t home = 0, forwards = 0, failed_rounds = 0, starts = 0;
  Duration served{0};
  Duration work{0};       // not done in attempts that are over, at speed 1
  WorkProgress progress;  // of the open attempt
  Instant ends = kNever;
  Placement placement;  // empty: does not run
  Allocation allocation = {};
  std::uint64_t order = 0;
  std::map<std::uint32_t, std::vector<AgentId>> offered = {};  // by home, in its stay there
};

struct TestHome {
  Partition partition;
  Occupancy gpus;
  std::map<std::uint64_t, std::size_t> waiting;  // by order
  std::vector<std::size_t> running;              // by start
  std::unique_ptr<Policy> policy;
  Rng rng;
  std::uint64_t next_order = 1;
};

/// Every placement is as good as any other, and n GPUs do n / (1 + 0.02 (n - 1)) times what one
/// does.
struct EqualTestSpeed final : SpeedModel {
  [[nodiscard]] Speed speed(const JobProfile&, const Placement&, const Neighbours&) const override {
    return {};
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    const auto many = [](double n) { return n / (1 + 0.02 * (n - 1)); };
    return job.gpus == job.asked ? 1 : many(job.gpus) / many(job.asked);
  }
};

/// What the policy of a home is shown; refers to `jobs`.
struct TestViews {
  TestViews(const std::vector<TestHome>& homes, const std::vector<TestJob>& jobs, std::uint32_t me,
            Instant now) {
    const PolicyFacts& facts = homes[me].policy->facts();
    for (const auto& [order, j] : homes[me].waiting) waiting.push_back(shown(jobs[j], now));
    if (facts.preemptive || facts.elastic || facts.needs_running) {
      for (const std::size_t j : homes[me].running) running.push_back(shown(jobs[j], now));
    }
    rooms.resize(homes.size());
    for (std::uint32_t h = 0; h < homes.size(); ++h) {
      if (h != me) others.push_back(said(homes[h], jobs, AgentId{h}, now, rooms[h]));
    }
  }

  std::vector<JobView> waiting, running;
  std::vector<std::vector<TypeRoom>> rooms;
  std::vector<RemoteDigest> others;

 private:
  static JobView shown(const TestJob& job, Instant now) {
    JobView v;
    v.spec = &job.spec;
    v.submitted = job.submitted;
    v.order = job.order;
    v.served = job.served + (job.placement.empty() ? Duration::zero() : now - job.started);
    v.failed_rounds = job.failed_rounds;
    v.placement = job.placement;
    v.allocation = job.allocation;
    v.forwards = job.forwards;
    if (const auto to = job.offered.find(job.home); to != job.offered.end()) v.offered = to->second;
    return v;
  }
  static RemoteDigest said(const TestHome& home, const std::vector<TestJob>& jobs, AgentId agent,
                           Instant now, std::vector<TypeRoom>& rooms) {
    const Shape shape = shape_of(home.gpus);
    RemoteDigest d;
    d.agent = agent;
    d.partition = home.partition.id;
    d.gpus = home.partition.gpus.size();
    d.free = home.gpus.free_count();
    d.largest_free_server = home.gpus.largest_free_server();
    d.whole_free_servers = static_cast<std::uint32_t>(
        home.gpus.whole_free_servers(shape.server, home.partition.servers.size()).size());
    d.waiting = static_cast<std::uint32_t>(home.waiting.size());
    for (const auto& [order, j] : home.waiting) d.waiting_gpus += jobs[j].spec.gpus();
    d.at = now;
    d.servers = home.partition.servers;
    FreeServers free;
    free.sync(home.gpus);
    free.rooms(rooms);
    d.types = rooms;
    if (!home.waiting.empty() || !home.running.empty()) d.prices = home.policy->prices();
    return d;
  }
};

/// What is wrong with a placement; empty: nothing.
inline std::string placement_fault(const TestHome& home, const JobSpec& spec,
                                   const Placement& placement) {
  if (!home.gpus.has_means(placement, demand_of(spec))) return "CPUs or memory are taken";
  for (std::size_t i = 0; i < placement.size(); ++i) {
    if (!home.partition.gpus.contains(placement[i].value)) return "GPU of another partition";
    if (i > 0 && !(placement[i - 1] < placement[i])) return "GPUs not ascending";
    if (!home.gpus.has_room(placement[i])) return "GPU is taken";
  }
  return {};
}

/// What there is beside homes and jobs.
struct TestScene {
  const Topology& topology;
  const SpeedModel& speed;
  Instant now;
};

/// `gpus` for a gang of home `h`, `local` of them there, the rest as the others offer them.
/// Nothing: those are too few, or `wrong` says what is wrong with an offer.
inline std::optional<Placement> gather(const TestScene& scene, const std::vector<TestHome>& homes,
                                       const std::vector<TestJob>& jobs, std::uint32_t h,
                                       const JobSpec& spec, Placement local, std::size_t gpus,
                                       std::string& wrong) {
  for (std::uint32_t o = 0; o < homes.size(); ++o) {
    const auto want = static_cast<std::uint32_t>(gpus - std::min(gpus, local.size()));
    if (o == h || want == 0) continue;
    const TestViews v(homes, jobs, o, scene.now);
    const View view{scene.topology, homes[o].gpus, v.waiting, v.running,
                    v.others,       scene.speed,   scene.now, AgentId{o}};
    const Placement part =
        homes[o].policy->offer(view, want, spec.gpus_per_worker, demand_of(spec));
    wrong = part.size() > want ? "bad offer" : placement_fault(homes[o], spec, part);
    if (!wrong.empty()) return std::nullopt;
    local.insert(local.end(), part.begin(), part.end());
  }
  std::sort(local.begin(), local.end());
  return local.size() == gpus ? std::optional(std::move(local)) : std::nullopt;
}

/// What is wrong with its size or its GPU types. Elastic policies may give a job any size that it
/// may have; else it is all or nothing.
inline std::string size_fault(const TestHome& home, const JobSpec& spec, const Placement& placement,
                              const Allocation& how) {
  const Topology& topology = home.gpus.topology();
  for (const GpuId gpu : placement) {
    if (!allows(spec, topology, topology.server_of(gpu))) return "GPU type not allowed";
  }
  if (placement.size() == spec.gpus()) return {};
  const bool may = home.policy->facts().elastic && may_have_size(spec, placement.size(), how);
  return may ? "" : "not the gang's size";
}

}  // namespace starling
