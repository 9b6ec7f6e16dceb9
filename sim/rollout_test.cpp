// SPDX-License-Identifier: Apache-2.0
// The light roll-outs against the whole world: a trace from an empty cluster.
#include "gnn/search/rollout.h"

#include <doctest/doctest.h>

#include <cmath>

#include "interference/models.h"
#include "interference/profile.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

Trace some_jobs(std::uint32_t count, double gap_s) {
  const char* models[] = {"resnet50", "vgg16", "bert", "transformer", "lstm", "gpt2"};
  const std::uint32_t sizes[] = {1, 1, 1, 2, 4, 8, 16};
  Rng rng(3);
  Trace trace;
  trace.name = "some";
  double at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    TraceJob job;
    at += gap_s * rng.exponential();
    job.submit = from_seconds(at);
    job.spec.id = {7, i};
    job.spec.model = models[rng.below(6)];
    job.spec.workers = sizes[rng.below(7)];
    job.spec.duration = from_seconds(60 + 3000 * rng.exponential());
    trace.jobs.push_back(job);
  }
  return trace;
}

TEST_CASE("a roll-out of a whole trace agrees with the simulator") {
  const Topology topology = generate_fat_tree({.servers = 8, .gpus_per_server = 8}).value();
  const auto physics = make_full_physics(topology);
  const auto world = make_true_speed(*physics);
  const auto asked = make_analytic_speed(topology);
  const PolicyRegistry registry = make_policy_registry();
  const Trace trace = some_jobs(500, 200);
  // Smart greedy is told how long jobs take. Else it guesses from what its jobs have been seen to
  // do, which the light one rounds, and one guess that falls out otherwise leads to another
  // schedule.
  const std::pair<std::string, DurationKnowledge::Kind> policies[] = {
      {"fifo", DurationKnowledge::none},
      {"fifo:queue=skip", DurationKnowledge::none},
      {"lif:threshold=0.3", DurationKnowledge::none},
      {"smart-greedy:threshold=0.3", DurationKnowledge::exact}};
  for (const auto& [name, knowledge] : policies) {
    CAPTURE(name);
    SimOptions options;
    options.policy = name;
    options.physics = PhysicsKind::full;
    options.durations.kind = knowledge;
    const RunResult run = simulate(topology, trace, registry, options).value();
    const double expected = figures(run).avg_jct_s;

    const auto policy = registry.make(name).value();
    const Occupancy empty(topology, {0, topology.server_count()},
                          jobs_per_gpu(policy->facts(), true));
    RolloutFuture future;
    for (const TraceJob& job : trace.jobs) {
      future.arrivals.push_back({job.submit, job.spec, seconds(job.spec.duration)});
      if (knowledge == DurationKnowledge::none)
        future.arrivals.back().spec.duration = Duration::zero();
    }
    const View view{topology, empty, {}, {}, {}, *asked, Instant{}, {}};
    RolloutWorld with;
    with.speed = world.get();
    with.startup_s = [&](const JobSpec& spec, const JobProfile& job, Duration served) {
      return seconds(start_time(*physics, spec, job, served));
    };
    const RolloutStart start(view, future, with);
    Rollout rollout;
    const RolloutResult result = rollout.run(start, {}, *policy);
    CHECK(result.complete);
    const double mean = result.cost_s / static_cast<double>(trace.jobs.size());
    CAPTURE(mean);
    CAPTURE(expected);
    CHECK(std::abs(mean / expected - 1) < 1e-4);

    const SpeedMemo world_memo(topology, *world), asked_memo(topology, *asked);
    with.speed_memo = &world_memo;
    with.asked_memo = &asked_memo;
    const auto again = registry.make(name).value();
    const double remembered =
        rollout.run(RolloutStart(view, std::move(future), with), {}, *again).cost_s;
    CHECK(remembered == doctest::Approx(result.cost_s));
  }
}

}  // namespace
}  // namespace starling
