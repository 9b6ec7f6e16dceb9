// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "policies/testing/policy_rig.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"

namespace starling {

/// A random mix for the battery: bursts, gangs up to half of the data centre, some jobs with GPU
/// types, some elastic, some that need CPUs or memory.
inline Trace battery_trace(Rng rng, std::uint32_t jobs, const Topology& topology) {
  Trace trace;
  double at = 0;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TraceJob job;
    if (!rng.chance(0.3)) at += 20 * rng.exponential();
    job.submit = from_seconds(at);
    job.spec.id = JobId{1, i + 1};
    const std::uint32_t sizes[] = {1, 1, 1, 2, 3, 4, 4, 8, 12, 16, topology.gpu_count() / 2};
    const std::uint32_t gpus = std::max(1U, std::min(sizes[rng.below(11)], topology.gpu_count()));
    job.spec.gpus_per_worker = gpus % 4 == 0 && rng.chance(0.5) ? 4 : 1;
    job.spec.workers = gpus / job.spec.gpus_per_worker;
    if (gpus <= 2 && rng.chance(0.2)) {
      job.spec.gpu_types = {
          topology.gpu_types()[rng.below(static_cast<std::uint32_t>(topology.gpu_types().size()))]
              .name};
    }
    if (rng.chance(0.3)) {
      job.spec.min_workers = 1;
      job.spec.max_workers = job.spec.workers + rng.below(4);
    }
    job.spec.model = i % 3 == 0 ? "resnet50" : "vgg16";
    job.spec.duration = from_seconds(1 + 300 * rng.exponential());
    if (Rng needs = rng.fork(i); needs.chance(0.3)) {
      // Up to 1.5 times its part of a server, and no more than one has: not all of its GPUs will go
      // with that.
      const Server& server = topology.server(ServerId{0});
      const double part = (gpus <= 8 ? 1.5 : 1.0) * needs.uniform() * job.spec.gpus_per_worker;
      const double fair = std::min(part / server.gpus.size(), 1.0);
      if (needs.chance(0.7)) job.spec.cpus_per_worker = fair * server.cpus;
      if (needs.chance(0.7)) job.spec.memory_gib_per_worker = fair * server.memory_gib;
    }
    trace.jobs.push_back(job);
  }
  return trace;
}

/// Half the speed beside a job on the same GPU, a tenth if their models differ; a third less
/// over several servers, and half of it on a P100.
struct CrowdedSpeed final : SpeedModel {
  explicit CrowdedSpeed(const Topology& of) : topology(of) {}
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    double relative = 1;
    for (const Neighbour& other : beside) {
      const bool shares = std::any_of(placement.begin(), placement.end(), [&](GpuId gpu) {
        return std::binary_search(other.placement.begin(), other.placement.end(), gpu);
      });
      if (shares) relative = std::min(relative, job.model == other.job.model ? 0.5 : 0.1);
    }
    if (topology.tier_of(placement) >= Tier::rack) relative *= 0.67;
    const GpuTypeId type = topology.type_of(placement.front());
    if (topology.gpu_types()[type.value].name == "P100") relative *= 0.5;
    return {relative, 0};
  }
  Topology topology;
};

/// What every policy must hold, learned or not, alone or among others: legal decisions only
/// (TestWorld judges), blocked jobs untouched, everything that fits somewhere runs in the end, same
/// seed same run. `text` is what follows --policy.
/// With `crowded` speeds depend on who shares a GPU, so that two jobs may where the policy wants
/// it.
inline void run_policy_battery(const PolicyRegistry& registry, const std::string& text,
                               bool crowded = false) {
  CAPTURE(text);
  const auto made = registry.make(text);
  REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
  const PolicyFacts facts = made.value()->facts();
  CHECK(registry.entries().contains(std::string(facts.name)));
  CHECK(!facts.summary.empty());

  Rng rng(2024);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    GeneratorOptions options;
    options.groups = {{3 + rng.below(4), "V100"}};
    if (seed % 2 == 0) options.groups.push_back({2 + rng.below(3), "P100"});
    options.gpus_per_server = seed % 3 == 0 ? 4 : 8;
    options.servers_per_rack = 2;
    const Topology topology = generate_leaf_spine(options).value();
    const Trace trace = battery_trace(rng.fork(seed), 120, topology);
    for (const std::uint32_t agents : {1U, 4U}) {
      CAPTURE(seed);
      CAPTURE(agents);
      const CrowdedSpeed crowd(topology);
      const TestWorld::Options how{agents, seed, 0.1, crowded ? &crowd : nullptr};
      TestWorld world(topology, registry, text, how);
      world.run(trace);
      const std::string fault = world.faults.empty() ? "" : world.faults.front();
      CHECK_MESSAGE(world.faults.empty(), fault);
      std::size_t unfinished = 0;
      for (const TestWorld::Job& job : world.jobs) unfinished += job.finished == kNever ? 1 : 0;
      CHECK(unfinished == 0);
      if (agents == 1) CHECK(world.forwards + world.spreads == 0);

      TestWorld again(topology, registry, text, how);
      again.run(trace);
      CHECK(again.hash.value() == world.hash.value());
    }
  }
}

/// The data centre is full when three gangs as wide as it come, the least urgent first: they run by
/// priority. What runs meanwhile is more urgent than all of them.
inline void run_priority_battery(const PolicyRegistry& registry, const std::string& text) {
  CAPTURE(text);
  GeneratorOptions options;
  options.groups = {{2, "V100"}};
  options.gpus_per_server = 4;
  const Topology topology = generate_flat(options).value();
  Trace trace;
  for (const std::int32_t priority : {1000, -5, 0, 100}) {
    TraceJob job;
    job.submit = std::chrono::seconds(trace.jobs.size());
    job.spec.id = JobId{1, trace.jobs.size() + 1};
    job.spec.workers = 2;
    job.spec.gpus_per_worker = 4;
    job.spec.model = "resnet50";
    job.spec.priority = priority;
    job.spec.duration = std::chrono::hours(1);
    trace.jobs.push_back(job);
  }
  TestWorld world(topology, registry, text, {});
  world.run(trace);
  const std::string fault = world.faults.empty() ? "" : world.faults.front();
  CHECK_MESSAGE(world.faults.empty(), fault);
  REQUIRE(world.jobs.size() == 4);
  for (const TestWorld::Job& job : world.jobs) REQUIRE(job.finished != kNever);
  const Instant low = world.jobs[1].finished, mid = world.jobs[2].finished,
                high = world.jobs[3].finished;
  CHECK(world.jobs[0].finished < high);
  CHECK(high < mid);
  CHECK(mid < low);
}

/// Two jobs as wide as the partition: one runs, and of the other the policy says why not.
inline std::vector<std::string> why_it_waits(std::unique_ptr<Policy> policy) {
  GeneratorOptions options;
  options.groups = {{1, "V100"}};
  options.gpus_per_server = 4;
  const Topology topology = generate_flat(options).value();
  PolicyRig rig(topology, std::move(policy));
  JobSpec wide;
  wide.gpus_per_worker = 4;
  wide.model = "resnet50";
  wide.duration = std::chrono::hours(1);
  rig.submit(wide);
  (void)rig.settle(TriggerKind::arrival);
  rig.pass(std::chrono::seconds(60));
  rig.submit(wide);
  (void)rig.settle(TriggerKind::arrival);
  (void)rig.decide(TriggerKind::round);  // what it would do now is not done
  std::vector<std::string> lines;
  for (const JobView& job : rig.jobs) {
    if (job.placement.empty()) lines = rig.explain(job.spec->id);
  }
  return lines;
}

/// `explain` has something of the policy's own for a job that cannot start.
inline void run_explain_battery(const PolicyRegistry& registry, const std::string& text) {
  CAPTURE(text);
  const auto lines = why_it_waits(registry.make(text).value());
  CHECK(!lines.empty());
  CHECK(std::ranges::none_of(lines, [](const std::string& line) { return line.empty(); }));
}

}  // namespace starling
