// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/scenario.h"

#include <atomic>
#include <thread>

#include "policies/placement/placement_policy.h"
#include "sim/simulate.h"

namespace starling {
namespace {

SimOptions options_of(const Scenario& scenario, const std::string& policy) {
  SimOptions options;
  options.policy = policy;
  options.agents = scenario.agents;
  options.seed = scenario.seed;
  options.physics = PhysicsKind::full;
  options.speed = scenario.speed;
  options.durations.kind = DurationKnowledge::none;
  return options;
}

}  // namespace

Result<std::unique_ptr<Policy>> make_net_policy(const LearnedSystem& system, const Weights& weights,
                                                const AblationMask& mask, NetChooser* chooser) {
  auto scorer = make_scorer(system, weights);
  if (!scorer) return scorer.error();
  scorer.value()->hide(mask);
  if (chooser != nullptr) chooser->attach(*scorer.value());
  const PlacementOrder order = scorer.value()->order();
  return std::unique_ptr<Policy>(std::make_unique<PlacementPolicy>(
      PlacementSystem{system.facts, {}, order, std::move(scorer).value()}, chooser));
}

Result<RunResult> run_scenario(const LearnedSystem& system, const Scenario& scenario,
                               const Weights& weights, const ChooserOf& choosers) {
  if (auto scorer = make_scorer(system, weights); !scorer) return scorer.error();
  PolicyRegistry registry;
  registry.add(system.facts, [&](OptionReader&) -> Result<std::unique_ptr<Policy>> {
    return make_net_policy(system, weights, scenario.mask);
  });
  SimOptions options = options_of(scenario, std::string(system.facts.name));
  if (choosers) {
    options.wrap_policy = [&](AgentId agent, std::unique_ptr<Policy>, const auto&) {
      return make_net_policy(system, weights, scenario.mask, choosers(agent)).value();
    };
  }
  return simulate(scenario.topology, scenario.trace, registry, options);
}

Result<RunResult> run_rule(const Scenario& scenario, const std::string& policy) {
  return simulate(scenario.topology, scenario.trace, make_policy_registry(),
                  options_of(scenario, policy));
}

void for_each_on(std::uint32_t threads, std::size_t count,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto some = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> pool;
  for (std::uint32_t t = 1; t < threads; ++t) pool.emplace_back(some);
  some();
}

}  // namespace starling
