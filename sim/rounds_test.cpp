// Policies that decide in rounds do so at their own times, however long messages take.
#include <doctest/doctest.h>

#include "sim/simulate.h"
#include "topology/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

Trace elastic_jobs() {
  const auto models = gavel_models();
  Trace trace;
  Rng rng(11);
  Duration at{0};
  for (std::uint64_t i = 0; i < 60; ++i) {
    at += from_seconds(200 * rng.exponential());
    TraceJob job;
    job.submit = at;
    job.spec.id = {3, i};
    job.spec.workers = 1U << rng.below(3);
    job.spec.min_workers = 1;
    job.spec.max_workers = 8;
    job.spec.duration = from_seconds(200 + 3000 * rng.exponential());
    job.spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

/// Hands everything on and counts.
struct Counting final : Policy {
  Counting(std::unique_ptr<Policy> p, int& r) : policy(std::move(p)), rounds(r) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return policy->facts(); }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override {
    if (trigger.kind == TriggerKind::round) ++rounds;
    return policy->decide(view, trigger, rng);
  }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t want,
                                std::uint32_t gpus_per_worker) override {
    return policy->offer(view, want, gpus_per_worker);
  }
  std::unique_ptr<Policy> policy;
  int& rounds;
};

TEST_CASE("that a job has started, or may try again, begins no round") {
  const Topology topology = generate_flat({.servers = 4, .gpus_per_server = 4}).value();
  const Trace trace = elastic_jobs();
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
