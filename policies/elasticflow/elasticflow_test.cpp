// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/testing/policy_rig.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

std::size_t in_time(const TestWorld& world, double times) {
  return static_cast<std::size_t>(std::ranges::count_if(world.jobs, [&](const auto& job) {
    return seconds(job.finished - job.submitted) <= times * seconds(job.spec.duration);
  }));
}

/// Jobs of one worker or more, some of which have to wait or to shrink for others to be in time.
Trace burst(std::uint64_t seed) {
  Rng rng(seed);
  Trace trace;
  double submit = 0;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    submit += rng.below(1200);
    trace.jobs.push_back(elastic(i, submit, 8, 1200 + rng.below(7200)));
    trace.jobs.back().spec.workers = 1U << rng.below(3);
  }
  return trace;
}

TEST_CASE("more deadlines are met than by equal shares, and than by the shortest first") {
  const Topology topology = servers(2);
  const PolicyRegistry registry = make_policy_registry();
  std::size_t met = 0, drf_met = 0, srtf_met = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Trace trace = burst(seed);
    const auto run = [&](const char* policy) {
      TestWorld world(topology, registry, policy, {});
      world.run(trace);
      CHECK(world.faults.empty());
      return in_time(world, 1.5);
    };
    met += run("elasticflow");
    drf_met += run("drf");
    srtf_met += run("srtf");
  }
  MESSAGE("deadlines met of 300: elasticflow " << met << ", drf " << drf_met << ", srtf "
                                               << srtf_met);
  CHECK(met > drf_met);
  CHECK(met > srtf_met);
}

TEST_CASE("a job says whether it was admitted, and by which share it is done in time") {
  const Topology topology = servers(1);
  const PolicyRegistry registry = make_policy_registry();
  PolicyRig rig(topology, registry.make("elasticflow:restart=0").value());
  rig.submit(elastic(1, 0, 8, 3000).spec);
  JobSpec hopeless = elastic(2, 0, 8, 3000).spec;
  hopeless.workers = 8;  // as long on 8 GPUs, which are not there beside the first
  rig.submit(hopeless);
  JobSpec unknown = elastic(3, 0, 8, 0).spec;
  rig.submit(unknown);
  rig.round(std::chrono::seconds(240));
  const auto first = [&](std::size_t job) {
    return rig.policy->explain(rig.jobs[job].spec->id).at(0);
  };
  CHECK(first(0).find("admitted: with at most 1 worker") != std::string::npos);
  CHECK(first(1).find("could not be met") != std::string::npos);
  CHECK(first(2).find("no deadline") != std::string::npos);
}

}  // namespace
}  // namespace starling
