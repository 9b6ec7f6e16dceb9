// SPDX-License-Identifier: Apache-2.0
// Two jobs on one GPU through real agents, executors and the full physics, as Gavel plans them.
#include <doctest/doctest.h>

#include <algorithm>

#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate_gavel.h"

namespace starling {
namespace {

RunResult run(const Topology& topology, const Trace& trace, const std::string& policy) {
  SimOptions options;
  options.policy = policy;
  options.physics = PhysicsKind::full;
  options.check = true;
  const Result<RunResult> result = simulate(topology, trace, make_policy_registry(), options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(figures(result.value()).finished == trace.jobs.size());
  return result.value();
}

TEST_CASE("two jobs that disturb each other little progress together on one GPU") {
  GeneratorOptions options;
  options.groups = {{1, "V100"}};
  options.gpus_per_server = 1;
  const Topology topology = generate_flat(options).value();
  Trace trace;
  for (std::uint32_t i = 0; i < 2; ++i) {
    TraceJob job;
    job.spec.id = JobId{1, i + 1};
    job.spec.model = "ResNet-18 (batch size 32)";
    job.spec.duration = std::chrono::hours(4);
    trace.jobs.push_back(job);
  }
  const RunResult apart = run(topology, trace, "gavel");
  const RunResult together = run(topology, trace, "gavel:sharing=yes");
  CHECK(figures(together).makespan_s < 0.95 * figures(apart).makespan_s);
  for (const JobRow& job : together.jobs) {
    // It ran from its first round to its end: neither waited while the other went on.
    CHECK(job.start_s < 400);
    CHECK(job.preemptions <= 1);
  }
}

TEST_CASE("near saturation jobs finish sooner with sharing") {
  GeneratorOptions options;
  options.groups = {{2, "V100"}, {2, "P100"}, {2, "K80"}};
  options.gpus_per_server = 4;
  const Topology topology = generate_leaf_spine(options).value();
  Trace trace = generate_gavel_trace({.jobs = 120, .jobs_per_hour = 2, .seed = 3}).value();
  const RunResult apart = run(topology, trace, "gavel");
  const RunResult together = run(topology, trace, "gavel:sharing=yes");
  const double faster = figures(apart).avg_jct_s / figures(together).avg_jct_s;
  MESSAGE("mean JCT without sharing is " << faster << " times that with it");
  CHECK(faster > 1.05);
  CHECK(run(topology, trace, "gavel:sharing=yes").trace_hash == together.trace_hash);
}

}  // namespace
}  // namespace starling
