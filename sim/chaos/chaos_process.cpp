// SPDX-License-Identifier: Apache-2.0
// Faults of processes, machines and clocks: F1, F2, F12, F18, F20, F25.
#include <algorithm>
#include <cmath>

#include "agents/step/state.h"
#include "sim/chaos/chaos_faults.h"

namespace starling {

/// False if it is down already.
bool ChaosFaults::went_down(NodeId node) { return down_.insert(node).second; }

/// Comes back within a minute, or, one time in ten, when all is healed.
void ChaosFaults::kill(World& world, Rng& rng, NodeId node) {
  if (!went_down(node)) return;
  if (is_client(node)) {
    world.crash_client(node.value - kFirstClient);
  } else if (is_agent(node)) {
    world.crash_agent(AgentId{node.value - 1});
  } else {
    world.crash_executor(executor_of(node));
  }
  if (rng.chance(0.1)) return;
  const double most_s = knobs_.faults * (rng.chance(0.5) ? 2 : 60);
  bring_back_in(world, node, from_seconds(most_s * rng.uniform()));
}

void ChaosFaults::bring_back_in(World& world, NodeId node, Duration wait) {
  world.at(world.now() + wait, [this, node](World& w) {
    if (down_.erase(node) > 0) bring_back(w, node);
  });
}

/// As a supervisor does. A damaged journal keeps a node down until the operator has restored it,
/// and an owner needs the authority.
void ChaosFaults::bring_back(World& world, NodeId node) {
  if (is_client(node)) return renew_client(world, node.value - kFirstClient);
  if (!is_agent(node) && world.retired(executor_of(node))) return;
  if (is_agent(node) && cut_off(world, node)) {
    went_down(node);
    return bring_back_in(world, node, std::chrono::seconds(1));
  }
  const Status started = is_agent(node) ? world.restart_agent(AgentId{node.value - 1})
                                        : world.restart_executor(executor_of(node));
  if (started.ok()) return;
  ++counts_["journal refused at a start"];
  went_down(node);
  const Duration operator_comes = from_seconds(5 + 55 * rng_.uniform());
  world.at(world.now() + operator_comes, [this, node](World& w) {
    if (down_.erase(node) == 0) return;  // up again meanwhile, perhaps with the wrong topology
    w.disk(node).repair();
    if (!is_agent(node)) w.mislead(executor_of(node), nullptr);
    bring_back(w, node);
  });
}

/// The user has the ids of the jobs. Half of the new clients are sessions of their own, as when
/// several commands run at once.
void ChaosFaults::renew_client(World& world, std::uint32_t place) {
  Rng& rng = state("F1-client").rng;
  const bool session = rng.chance(0.5);
  world.renew_client(place, session, [&](JobId) {
    const bool again = rng.chance(0.6);
    ++counts_[again ? "F1-client: jobs submitted again" : "F1-client: jobs left"];
    return again;
  });
}

/// Its disk has refused a write. The supervisor tries again, and again.
void ChaosFaults::stopped(World& world, NodeId node) {
  went_down(node);
  if (world.outlived(node)) {
    ++counts_["F15-restored: told that it is an old copy"];
    if (is_agent(node)) return bring_back_in(world, node, from_seconds(0.2 + 5 * rng_.uniform()));
    world.at(world.now() + from_seconds(1 + 20 * rng_.uniform()), [this, node](World& w) {
      if (w.executor(executor_of(node)) != nullptr || w.retired(executor_of(node))) return;
      ++counts_["F15-restored: loss accepted"];
      w.accept_loss(executor_of(node));
      set_back_.erase(node);
      down_.erase(node);
      bring_back(w, node);
    });
    return;
  }
  ++counts_["node stopped by its disk"];
  bring_back_in(world, node, from_seconds(0.2 + 5 * rng_.uniform()));
}

void ChaosFaults::kill_rack(World& world, Rng& rng, Dose) {
  const std::uint32_t rack = rng.below(agents_);
  kill(world, rng, agent_node(AgentId{rack}));
  for (std::uint32_t i = 0; i < executors_each_; ++i)
    kill(world, rng, executor_node(rack * executors_each_ + i));
}

void ChaosFaults::kill_all_agents(World& world, Rng& rng, Dose) {
  for (std::uint32_t a = 0; a < agents_; ++a) kill(world, rng, agent_node(AgentId{a}));
}

/// All of them register again at one instant.
void ChaosFaults::restart_all_executors(World& world, Rng&, Dose) {
  for (std::uint32_t e = 0; e < world.executors(); ++e) {
    down_.erase(executor_node(e));
    bring_back(world, executor_node(e));
  }
}

/// Off and on, sometimes quickly: a watcher of the hardware says what it sees.
void ChaosFaults::spoil_gpu(World& world, Rng& rng, Dose) {
  const GpuId gpu{rng.below(world.topology().gpu_count())};
  world.hardware().set_sick(gpu, true);
  bad_gpus_.insert(gpu);
  world.at(world.now() + outage(rng), [this, gpu](World& w) {
    if (!healed_) w.hardware().set_sick(gpu, false);
  });
}

/// Mostly short; minutes now and then, up to an hour if extreme.
void ChaosFaults::pause(World& world, Rng& rng, Dose dose) {
  const double longest_s = dose == Dose::mild ? 60 * knobs_.faults : 3600;
  const double s = 0.01 * std::pow(longest_s / 0.01, rng.uniform());
  world.pause(any(rng), from_seconds(s));
}

void ChaosFaults::suspend(World& world, Rng& rng, Dose) { world.suspend(any(rng), outage(rng)); }

void ChaosFaults::skew(World& world, Rng& rng, Dose dose) {
  const double most = dose == Dose::mild ? 0.05 : 0.2;
  // Silence is counted on both sides: two clocks that differ by more than lost_after() allows may
  // count a job as lost that still runs.
  if (dose == Dose::extreme) {
    world.excuse("S3");
    world.excuse("S2");
  }
  for (const NodeId node : nodes_) world.set_rate(node, 1 + most * (2 * rng.uniform() - 1));
}

/// Its processes die with it. A new disk only where no deposed owner is left that could still send
/// what the old disk knew to be over: leases see to that.
void ChaosFaults::lose_host(World& world, Rng& rng, Dose) {
  const std::uint32_t executor = rng.below(world.executors());
  const AgentId owner{executor / executors_each_};
  const bool disk = rng.chance(0.3) && !world.any_deposed_speaks(owner);
  if (disk) ++counts_["F20-host: with its disk"];
  world.lose_host(executor, disk);
  const NodeId node = executor_node(executor);
  if (disk) set_back_.erase(node);
  if (went_down(node)) bring_back_in(world, node, outage(rng));
}

/// At most a third of all: the rest has to go on, and what ran there to end elsewhere.
void ChaosFaults::retire(World& world, Rng& rng, Dose) {
  const std::uint32_t executor = rng.below(world.executors());
  std::uint32_t gone = 1;
  for (std::uint32_t e = 0; e < world.executors(); ++e) gone += world.retired(e) ? 1 : 0;
  if (world.retired(executor) || 3 * gone > world.executors()) return;
  if (world.any_deposed_speaks(AgentId{executor / executors_each_})) return;
  ++counts_["F20-gone: for good"];
  const NodeId node = executor_node(executor);
  const Executor* core = world.executor(executor);
  const IndexRange servers = core == nullptr ? IndexRange{} : core->config().servers;
  if (core == nullptr) return;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) servers_gone_.insert(ServerId{s});
  world.retire(executor);
  down_.erase(node);
  set_back_.erase(node);
}

/// Of a host: what the next life of an owner reads there. A dead battery says 1970.
void ChaosFaults::set_calendar(World& world, Rng& rng, Dose dose) {
  static constexpr double kMild_s = 3600, kDay_s = 86'400;
  const AgentId agent{rng.below(agents_)};
  double s = (dose == Dose::mild ? kMild_s : kDay_s) * (2 * rng.uniform() - 1);
  if (dose == Dose::extreme && rng.chance(0.2)) s = -50 * 365 * kDay_s;
  if (rng.chance(0.3)) s = 0;  // the operator has put it right
  world.set_calendar(agent, from_seconds(s));
}

void ChaosFaults::lose_owner(World& world, Rng& rng, Dose) {
  if (owner_lost_) return;
  for (std::uint32_t a = 0; a < agents_; ++a) {
    const Agent* core = world.agent(AgentId{a});
    if (core == nullptr) continue;
    const AgentState& state = core->state();
    const bool takes_part =
        std::any_of(state.owner.shares.begin(), state.owner.shares.end(), [&](const auto& known) {
          const OwnedShare& share = known.second;
          return share.home_known && share.home != AgentId{a} && share.launched != kNever;
        });
    if (!takes_part || !went_down(agent_node(AgentId{a}))) continue;
    owner_lost_ = true;
    ++counts_["F1-owner: lost"];
    const Duration away = lost_after(core->config().timers) + from_seconds(30 * rng.uniform());
    world.crash_agent(AgentId{a});
    return bring_back_in(world, agent_node(AgentId{a}), away);
  }
}

void ChaosFaults::compact(World& world, Rng& rng, Dose) { world.compact(any_server(rng)); }

}  // namespace starling
