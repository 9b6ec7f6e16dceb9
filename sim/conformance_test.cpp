// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>

#include "base/test_data.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

// The published week of the Philly trace through real agents, executors, codec and driver: the
// figures are those of a plain list scheduler, to the digits that are published.

namespace starling {
namespace {

struct Expected {
  const char* policy;
  double mean_jct_s, mean_wait_s, makespan_s;
};
constexpr Expected kExpected[] = {
    {"fifo:queue=strict,fit=count", 25137.60127, 18483.88831, 2434097},
    {"fifo:queue=skip,fit=count", 19686.49688, 13032.78392, 2416669},
    {"sjf:queue=strict,fit=count", 12489.27626, 5835.56331, 2445452},
    {"sjf:queue=skip,fit=count", 12488.50669, 5834.79374, 2410669},
    {"fifo:queue=strict,fit=server", 30954.78514, 24301.07219, 2445137},
    {"fifo:queue=skip,fit=server", 17612.30197, 10958.58902, 2415192},
    {"sjf:queue=strict,fit=server", 11302.45997, 4648.74702, 2504374},
    {"sjf:queue=skip,fit=server", 11074.46095, 4420.74799, 2390875}};

TEST_CASE("one agent gives the published figures of the Philly week" *
          doctest::test_suite("published data")) {
  const auto file = test_data("conformance/philly_week.csv.gz");
  if (!file) return;
  const Trace trace = read_trace(*file, {}).value();
  REQUIRE(trace.jobs.size() == 12329);
  const Topology topology = generate_leaf_spine({.servers = 48}).value();
  const PolicyRegistry registry = make_policy_registry();
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.policy);
    SimOptions options;
    options.policy = expected.policy;
    const Result<RunResult> run = simulate(topology, trace, registry, options);
    REQUIRE_MESSAGE(run.ok(), run.error().message);
    const RunFigures f = figures(run.value());
    CHECK(f.finished == 12329);
    CHECK(std::abs(f.avg_jct_s - expected.mean_jct_s) < 1e-5);
    CHECK(std::abs(f.avg_queue_s - expected.mean_wait_s) < 1e-5);
    CHECK(f.makespan_s == expected.makespan_s);
    MESSAGE(std::string(expected.policy)
            << ": " << run.value().wall_s << " s, " << run.value().messages << " messages, "
            << run.value().events << " events, " << run.value().decisions << " decisions");
  }
}

}  // namespace
}  // namespace starling
