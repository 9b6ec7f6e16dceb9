// SPDX-License-Identifier: Apache-2.0
#include "launch/wiring/wiring.h"

#include <doctest/doctest.h>

#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/traces/test_trace.h"

namespace starling {
namespace {

TEST_CASE("only simulations offer upper bounds") {
  CHECK_FALSE(all_policies().make("clairvoyant").ok());
  CHECK(simulated_policies().make("clairvoyant:base=marl,candidates=3,arrivals=9,again=0").ok());
  CHECK_FALSE(simulated_policies().make("clairvoyant:candidates=1").ok());
  const PolicyRegistry live = all_policies();
  for (const auto& [name, entry] : live.entries())
    CHECK(simulated_policies().entries().contains(name));
}

TEST_CASE(
    "a search that knows the future does better than the rule it starts from, and serves one "
    "agent") {
  const Topology topology = generate_flat({.servers = 4, .gpus_per_server = 4}).value();
  const Trace trace =
      test_trace({.jobs = 200, .seed = 5, .gap_s = 60, .least_s = 100, .more_s = 2000});
  SimOptions options;
  options.physics = PhysicsKind::full;
  options.durations.kind = DurationKnowledge::none;
  const PolicyRegistry policies = simulated_policies();
  const auto jct = [&](const char* policy) {
    options.policy = policy;
    return figures(simulate(topology, trace, policies, options).value()).avg_jct_s;
  };
  const double rule = jct("lif:threshold=0.3");
  const double bound = jct("clairvoyant:base=lif,order=arrival");
  CAPTURE(rule);
  CHECK(bound < 0.97 * rule);
  CHECK(jct("clairvoyant:base=lif,order=arrival") == bound);
  CHECK(jct("clairvoyant") < jct("marl"));
  options.agents = 2;
  const auto refused = simulate(topology, trace, policies, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "clairvoyant is an upper bound for one agent, not for 2");
}

}  // namespace
}  // namespace starling
