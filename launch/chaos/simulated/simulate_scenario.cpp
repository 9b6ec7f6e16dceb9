// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/simulated/simulate_scenario.h"

#include <algorithm>

#include "base/marks.h"
#include "launch/chaos/simulated/scenario_faults.h"
#include "sim/chaos/chaos_demo.h"
#include "sim/chaos/play.h"
#include "topology/generate/generate.h"

namespace starling::chaos_live {
namespace {

/// As many executors for each agent: a partition that a live flock gives one more has one more
/// here, and all others too.
std::uint32_t executors_each(const FlockShape& flock) {
  return std::max(1U, (flock.executors + flock.agents - 1) / flock.agents);
}

Result<ChaosRun> once(const ChaosScenario& scenario, const PolicyRegistry& policies,
                      const ChaosOptions& options) {
  Mark::reset();
  const std::uint32_t each = executors_each(scenario.flock);
  auto topology = generate_leaf_spine({.servers = scenario.flock.agents * each,
                                       .gpus_per_server = scenario.flock.gpus,
                                       .servers_per_rack = each});
  if (!topology) return topology.error();
  SimulatedLoad load(scenario);
  ScenarioFaults faults(scenario, each, load);
  ChaosInput input{topology.value(), std::move(topology).value(), {}, {}, each, load.serial()};
  input.trace.name = scenario.name;
  input.sim.policy = scenario.flock.policy;
  input.sim.agents = scenario.flock.agents;
  input.sim.servers_per_executor = 1;
  input.sim.seed = scenario.seed;
  input.sim.network = NetworkModel::lan();
  input.sim.check = true;
  input.sim.timers = faults.knobs().timers;
  auto made = World::make(input.topology, input.trace, policies, input.sim);
  if (!made) return made.error();
  World& world = *made.value();
  world.network().count_kinds();
  faults.plan(world);
  if (options.demo) plant_demo(world);
  if (options.plant) world.at(Instant(from_seconds(scenario.length / 2)), options.plant);
  ChaosRun run = play_chaos(scenario.seed, input, world, faults);
  if (const std::string unmet = faults.unmet(); !run.failure && !unmet.empty())
    run.failure = ChaosFailure{scenario.seed, "expected", run.simulated_s, unmet};
  return run;
}

}  // namespace

Result<ChaosRun> simulate_scenario(const ChaosScenario& scenario, const PolicyRegistry& policies,
                                   const ChaosOptions& options) {
  return play_twice(scenario.seed, options.twice_every,
                    [&] { return once(scenario, policies, options); });
}

}  // namespace starling::chaos_live
