// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/scenario.h"

#include <atomic>
#include <thread>

#include "sim/simulate.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "net",
                             .summary = "a network in training",
                             .family = Family::placement,
                             .needs_running = true,
                             .shares_gpus = true};

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

std::unique_ptr<Policy> make_net_policy(const PolicyNet& net, const AblationMask& mask,
                                        NetChooser* chooser) {
  auto scorer = std::make_unique<NetScorer>(PolicyNet(net), mask);
  if (chooser != nullptr) chooser->attach(*scorer);
  return std::make_unique<PlacementPolicy>(
      PlacementSystem{kFacts, {}, order_of(net), std::move(scorer)}, chooser);
}

Result<RunResult> run_scenario(const Scenario& scenario, const Weights& weights,
                               const ChooserOf& choosers) {
  auto net = PolicyNet::make(weights);
  if (!net) return net.error();
  PolicyRegistry registry;
  registry.add(kFacts, [&](OptionReader&) -> Result<std::unique_ptr<Policy>> {
    return make_net_policy(net.value(), scenario.mask);
  });
  SimOptions options = options_of(scenario, "net");
  if (choosers) {
    options.wrap_policy = [&](AgentId agent, std::unique_ptr<Policy>, const auto&) {
      return make_net_policy(net.value(), scenario.mask, choosers(agent));
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
