// SPDX-License-Identifier: Apache-2.0
// Policies that decide in rounds do so at their own times, however long messages take.
#include <doctest/doctest.h>

#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/traces/test_trace.h"

namespace starling {
namespace {

/// Hands everything on and counts.
struct Counting final : Policy {
  Counting(std::unique_ptr<Policy> p, int& r) : policy(std::move(p)), rounds(r) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return policy->facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override {
    if (trigger.kind == TriggerKind::round) ++rounds;
    return policy->decide(view, trigger, rng);
  }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                                Demand each) override {
    return policy->offer(view, want, gpus_per_worker, each);
  }
  std::unique_ptr<Policy> policy;
  int& rounds;
};

TEST_CASE("that a job has started, or may try again, begins no round") {
  const Topology topology = generate_flat({.servers = 4, .gpus_per_server = 4}).value();
  Trace trace = test_trace({.jobs = 60, .seed = 11, .gap_s = 200, .least_s = 200, .more_s = 3000});
  for (TraceJob& job : trace.jobs) {
    job.spec.min_workers = 1;
    job.spec.max_workers = 8;
  }
  SimOptions options;
  options.policy = "optimus";
  options.physics = PhysicsKind::full;
  options.network = NetworkModel::lan();
  options.agents = 2;
  int rounds = 0;
  options.wrap_policy = [&](AgentId, std::unique_ptr<Policy> policy, const auto&) {
    return std::make_unique<Counting>(std::move(policy), rounds);
  };
  const RunResult run = simulate(topology, trace, make_policy_registry(), options).value();
  const double round_s = seconds(make_policy_registry().make("optimus").value()->facts().round);
  const double most = 2 * (figures(run).makespan_s / round_s + 2);
  CHECK(figures(run).finished == trace.jobs.size());
  CHECK(rounds > 20);
  CHECK(rounds <= most);
}

}  // namespace
}  // namespace starling
