// SPDX-License-Identifier: Apache-2.0
// The week of the Philly trace that independent simulators have run: the plain policies leave no
// freedom, so the numbers have to be the same to the digit.
#include <doctest/doctest.h>

#include "base/test_data.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

struct Expected {
  const char* policy;
  double jct, makespan;
};
constexpr Expected kExpected[] = {{"fifo:queue=strict,fit=count", 25137.60127, 2434097},
                                  {"fifo:queue=skip,fit=count", 19686.49688, 2416669},
                                  {"sjf:queue=strict,fit=count", 12489.27626, 2445452},
                                  {"sjf:queue=skip,fit=count", 12488.50669, 2410669},
                                  {"fifo:queue=strict,fit=server", 30954.78514, 2445137},
                                  {"fifo:queue=skip,fit=server", 17612.30197, 2415192},
                                  {"sjf:queue=strict,fit=server", 11302.45997, 2504374},
                                  {"sjf:queue=skip,fit=server", 11074.46095, 2390875}};

TEST_CASE("the Philly week gives the published numbers" * doctest::test_suite("published data")) {
  const auto file = test_data("conformance/philly_week.csv.gz");
  if (!file) return;
  const Trace trace = read_trace(*file, {}).value();
  GeneratorOptions options;
  options.servers = 48;
  const Topology topology = generate_flat(options).value();
  const PolicyRegistry registry = make_policy_registry();
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.policy);
    TestWorld world(topology, registry, expected.policy, {});
    world.run(trace);
    CHECK(world.faults.empty());
    CHECK(std::abs(world.mean_jct_s() - expected.jct) < 1e-5);
    CHECK(world.makespan_s() == expected.makespan);
    MESSAGE(std::string(expected.policy)
            << ": " << world.decide_s / static_cast<double>(world.calls) * 1e6 << " us a call");
  }
}

TEST_CASE("Tiresias without durations against FIFO on the Philly week" *
          doctest::test_suite("published data")) {
  const auto file = test_data("conformance/philly_week.csv.gz");
  if (!file) return;
  const Trace trace = read_trace(*file, {}).value();
  GeneratorOptions options;
  options.servers = 48;
  const Topology topology = generate_flat(options).value();
  const PolicyRegistry registry = make_policy_registry();
  const auto jct = [&](const std::string& policy) {
    TestWorld world(topology, registry, policy, {});
    world.run(trace);
    CHECK(world.faults.empty());
    MESSAGE(policy << ": JCT " << world.mean_jct_s() << " s, " << world.preemptions
                   << " preemptions, " << world.decide_s / static_cast<double>(world.calls) * 1e6
                   << " us a call");
    return world.mean_jct_s();
  };
  const double fifo = jct("fifo");
  const double las = jct("tiresias-las");
  const double gittins = jct("tiresias-gittins");
  CHECK(las < fifo);
  CHECK(gittins < fifo);
  MESSAGE("FIFO / LAS " << fifo / las << ", FIFO / Gittins " << fifo / gittins
                        << " (paper's simulation: 2.41 for LAS)");
}

TEST_CASE("eight cooperating agents stay close to one" * doctest::test_suite("published data")) {
  const auto file = test_data("conformance/philly_week.csv.gz");
  if (!file) return;
  const Trace trace = read_trace(*file, {}).value();
  GeneratorOptions options;
  options.servers = 48;
  const Topology topology = generate_flat(options).value();
  const PolicyRegistry registry = make_policy_registry();
  for (const char* policy : {"fifo", "fifo:queue=skip,fit=count", "sjf:queue=skip", "srtf",
                             "consolidate", "load-balance"}) {
    double alone = 0;
    for (const std::uint32_t agents : {1U, 8U}) {
      CAPTURE(policy);
      CAPTURE(agents);
      TestWorld world(topology, registry, policy, {.agents = agents});
      world.run(trace);
      CHECK(world.faults.empty());
      if (agents == 1) alone = world.mean_jct_s();
      CHECK(world.mean_jct_s() < 1.25 * alone);
      MESSAGE(std::string(policy) << " x" << agents << ": JCT " << world.mean_jct_s()
                                  << " s, forwards " << world.forwards << ", spreads "
                                  << world.spread_starts << "/" << world.spreads << ", preemptions "
                                  << world.preemptions << ", "
                                  << world.decide_s / static_cast<double>(world.calls) * 1e6
                                  << " us a call");
    }
  }
}

}  // namespace
}  // namespace starling
