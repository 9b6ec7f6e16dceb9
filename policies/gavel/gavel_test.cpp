// SPDX-License-Identifier: Apache-2.0
// The 96-job trace that Gavel's own simulator has run: 8 V100, 16 P100 and 24 K80, one GPU a
// server.
#include "policies/gavel/gavel.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/test_data.h"
#include "policies/gavel/test_gavel_world.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

Topology gavel_cluster() {
  GeneratorOptions options;
  options.groups = {{8, "V100"}, {16, "P100"}, {24, "K80"}};
  options.gpus_per_server = 1;
  return generate_flat(options).value();
}

struct Expected {
  const char* name;
  GavelObjective objective;
  bool aware;
  double jct, makespan;
};
constexpr Expected kExpected[] = {
    {"fifo", GavelObjective::fifo, false, 35904.574, 196524.281},
    {"fifo_perf", GavelObjective::fifo, true, 19526.854, 72319.858},
    {"max_min_fairness", GavelObjective::max_min_fairness, false, 19989.255, 77141.282},
    {"max_min_fairness_perf", GavelObjective::max_min_fairness, true, 14622.82, 63944.529},
    {"finish_time_fairness_perf", GavelObjective::finish_time_fairness, true, 15009.706, 64971.494},
    {"min_total_duration_perf", GavelObjective::makespan, true, 22972.646, 61512.583}};

TEST_CASE("Python's random numbers") {
  PythonRandom zero(0);
  const std::uint32_t expected[] = {1, 1, 0, 1, 2, 1, 1, 1, 1, 1};
  for (const std::uint32_t value : expected) CHECK(zero.below(3) == value);
}

TEST_CASE(
    "agnostic FIFO keeps types, never gives out more than there is, and stops at the first that "
    "waits") {
  GavelProblem problem;
  problem.gpus = {2, 3};
  for (std::uint32_t i = 0; i < 4; ++i) {
    problem.rows.push_back({JobId{1, i}, 1 + i % 2, {1, 1}});
  }
  problem.rows.push_back({JobId{1, 4}, 3, {1, 1}});
  problem.rows.push_back({JobId{1, 5}, 1, {1, 1}});
  GavelFifo fifo;
  Rng rng(1);
  const auto pick = [&](std::uint32_t n) { return rng.below(n); };
  const GavelAllocation first = fifo.allocate(problem, pick);
  for (std::size_t t = 0; t < 2; ++t) {
    double used = 0;
    for (std::size_t i = 0; i < first.size(); ++i) used += first[i][t] * problem.rows[i].gpus;
    CHECK(used <= problem.gpus[t]);
  }
  CHECK(first[5] == std::vector<double>{0, 0});
  CHECK(fifo.allocate(problem, pick)[0] == first[0]);
}

TEST_CASE("Gavel's own simulator gives the same numbers" * doctest::test_suite("published data")) {
  const auto isolated = test_data("gavel/isolated.csv");
  const auto trace_file = test_data("gavel/traces/max_min_fairness.csv");
  if (!isolated || !trace_file) return;
  const Topology topology = gavel_cluster();
  const GavelSpeed speed(*isolated, topology);
  const Trace trace = gavel_trace(*trace_file, speed);
  REQUIRE(trace.jobs.size() == 96);
  const PolicyRegistry registry = make_policy_registry();
  std::map<double, double> ours_by_theirs;
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.name);
    // Its random numbers, too: seed 0 for FIFO's choices, 5 for the order of types.
    PublishedFifo fifo(0);
    PythonRandom order(5);
    TestWorld::Options world_options;
    world_options.model = &speed;
    world_options.round_length = [&](const TestWorld& w) { return gavel_round(w, speed); };
    world_options.make = [&] {
      GavelOptions options;
      options.objective = expected.objective;
      options.aware = expected.aware;
      options.agnostic_fifo = [&](const GavelProblem& p) { return fifo.allocate(p); };
      options.shuffle_types = [&](std::uint32_t n) { return order.below(n); };
      return std::make_unique<GavelPolicy>(options);
    };
    TestWorld world(topology, registry, "", world_options);
    world.run(trace);
    CHECK(world.faults.empty());
    const double jct = world.mean_jct_s() / expected.jct - 1;
    const double makespan = world.makespan_s() / expected.makespan - 1;
    ours_by_theirs[expected.jct] = world.mean_jct_s();
    CHECK(std::abs(jct) < 0.05);
    CHECK(std::abs(makespan) < 0.05);
    MESSAGE(std::string(expected.name)
            << ": JCT " << world.mean_jct_s() << " s (" << 100 * jct << " %), makespan "
            << world.makespan_s() << " s (" << 100 * makespan << " %), " << world.preemptions
            << " preemptions, " << world.decide_s / static_cast<double>(world.calls) * 1e6
            << " us a call");
  }
  // The same order, to the last pair.
  for (const auto& [theirs, ours] : ours_by_theirs) {
    for (const auto& [other_theirs, other_ours] : ours_by_theirs) {
      if (theirs < other_theirs) CHECK(ours < other_ours);
    }
  }
}

}  // namespace
}  // namespace starling
