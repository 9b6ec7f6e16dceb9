#include "launch/wiring.h"

#include <doctest/doctest.h>

#include "sim/simulate.h"
#include "topology/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

Trace busy_trace() {
  const auto models = gavel_models();
  Trace trace;
  Rng rng(5);
  Duration at{0};
  for (std::uint64_t i = 0; i < 200; ++i) {
    at += from_seconds(60 * rng.exponential());
    TraceJob job;
    job.submit = at;
    job.spec.id = {7, i};
    job.spec.workers = 1U << rng.below(3);
    job.spec.duration = from_seconds(100 + 2000 * rng.exponential());
    job.spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

TEST_CASE("only simulations offer upper bounds") {
  CHECK_FALSE(all_policies().make("clairvoyant").ok());
  CHECK(simulated_policies().make("clairvoyant:base=marl,candidates=3,arrivals=9,again=0").ok());
  CHECK_FALSE(simulated_policies().make("clairvoyant:candidates=1").ok());
  const PolicyRegistry live = all_policies();
  for (const auto& [name, entry] : live.entries())
    CHECK(simulated_policies().entries().contains(name));
}

TEST_CASE("who knows the future does better than the rule it starts from, and serves one agent") {
  const Topology topology = generate_flat({.servers = 4, .gpus_per_server = 4}).value();
  const Trace trace = busy_trace();
  SimOptions options;
  options.physics = PhysicsKind::full;
  options.durations.kind = DurationKnowledge::none;
  const PolicyRegistry policies = simulated_policies();
  const auto jct = [&](const char* policy) {
    options.policy = policy;
    return figures(simulate(topology, trace, policies, options).value()).avg_jct_s;
  };
  const double rule = jct("lif:threshold=0.3");
  const double bound = jct("clairvoyant");
  CAPTURE(rule);
  CHECK(bound < 0.97 * rule);
  CHECK(jct("clairvoyant") == bound);
  options.agents = 2;
  const auto refused = simulate(topology, trace, policies, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "clairvoyant is an upper bound for one agent, not for 2");
}

}  // namespace
}  // namespace starling
