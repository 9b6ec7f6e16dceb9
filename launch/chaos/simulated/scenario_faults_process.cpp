// SPDX-License-Identifier: Apache-2.0
// Processes that die, freeze, start again or never do, and partitions that others take over.
#include "launch/chaos/simulated/scenario_faults.h"

namespace starling::chaos_live {
namespace {

/// A lease is renewed when a third of it is over, and its holder stops when nine tenths are.
constexpr double kRenewed = 1.0 / 3, kStops = 0.9;
/// A candidate that waits for a lease sees its end within so long.
constexpr double kSeen_s = 1;
/// An owner that was deposed and is heard again: until the authority refuses it.
constexpr double kRefused_s = 2;

}  // namespace

void ScenarioFaults::kill(World& world, NodeId node, double down_s) {
  if (!down_.insert(node).second) return;
  frozen_.erase(node);
  if (!is_agent(node)) {
    world.crash_executor(executor_of(node));
    return bring_back_in(world, node, down_s);
  }
  world.crash_agent(agent_of(node));
  may_be_taken_over(world, agent_of(node), down_s);
  bring_back_in(world, node, down_s);
}

void ScenarioFaults::freeze(World& world, NodeId node, double lasts_s) {
  ++frozen_[node];
  if (is_agent(node)) may_be_taken_over(world, agent_of(node), lasts_s);
  world.pause(node, from_seconds(lasts_s));
  later(world, lasts_s, [this, node](World& w) {
    const auto at = frozen_.find(node);
    if (at == frozen_.end()) return;
    if (--at->second == 0) frozen_.erase(at);
    if (is_agent(node)) renews_again(w, node);
  });
}

void ScenarioFaults::renews_again(World& world, NodeId node) {
  if (!frozen_.contains(node) && !no_authority_.contains(node))
    world.lapse(agent_of(node), Duration::max());
}

/// Where state is in etcd: the lease of an agent that can say nothing for so long ends, and another
/// host takes its partition.
void ScenarioFaults::may_be_taken_over(World& world, AgentId agent, double away_s) {
  if (!etcd()) return;
  const double lease_s = seconds(knobs_.lease), renewed_s = kRenewed * lease_s * rng_.uniform();
  const double comes_s = lease_s - renewed_s + kSeen_s * rng_.uniform();
  if (world.agent(agent) != nullptr) world.lapse(agent, from_seconds(kStops * lease_s - renewed_s));
  if (comes_s >= away_s) return;
  const Epoch seen = world.epoch(agent);
  world.at(world.now() + from_seconds(comes_s), [this, agent, seen, away_s, comes_s](World& w) {
    const NodeId node = agent_node(agent);
    const bool away =
        down_.contains(node) || frozen_.contains(node) || no_authority_.contains(node);
    if (healed_ || !away || w.epoch(agent) != seen) return;
    take_over(w, agent, away_s - comes_s + kRefused_s);
  });
}

void ScenarioFaults::take_over(World& world, AgentId agent, double lasts_s) {
  const NodeId node = agent_node(agent);
  down_.erase(node);
  frozen_.erase(node);
  no_authority_.erase(node);
  ++takeovers_;
  if (world.take_over(agent, from_seconds(lasts_s)).ok()) return;
  down_.insert(node);
  bring_back_in(world, node, 1);
}

void ScenarioFaults::bring_back_in(World& world, NodeId node, double wait_s) {
  world.at(world.now() + from_seconds(wait_s), [this, node](World& w) {
    if (down_.erase(node) > 0) bring_back(w, node);
  });
}

/// As a supervisor does: what does not start is tried again. An owner needs the authority.
void ScenarioFaults::bring_back(World& world, NodeId node) {
  if (gone_.contains(node)) return;
  const bool barred = is_agent(node) && no_authority_.contains(node);
  if (!barred) {
    const Status started = is_agent(node) ? world.restart_agent(agent_of(node))
                                          : world.restart_executor(executor_of(node));
    if (started.ok()) return;
    ++counts_["starts that failed"];
  }
  down_.insert(node);
  bring_back_in(world, node, 1);
}

void ScenarioFaults::change_version(World& world, NodeId node, double lasts_s) {
  const auto restart = [this, node](World& w, std::uint16_t protocol) {
    w.set_protocol(node, protocol);
    if (!down_.contains(node)) kill(w, node, 0);
  };
  aged_.insert(node);
  restart(world, kOldestProtocol);
  later(world, lasts_s, [this, node, restart](World& w) {
    w.set_protocol(node, kNewestProtocol);
    if (healed_) return;  // started once, with all others
    aged_.erase(node);
    restart(w, kNewestProtocol);
  });
}

void ScenarioFaults::lose(World& world, NodeId node) {
  const Executor* core = world.executor(executor_of(node));
  if (core == nullptr ||
      world.any_deposed_speaks(world.owner_of(ServerId{core->config().servers.first}))) {
    ++counts_["lose: put off, it is not known what ran there"];
    return;
  }
  const IndexRange servers = core->config().servers;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) servers_gone_.insert(ServerId{s});
  world.retire(executor_of(node));
  gone_.insert(node);
  down_.erase(node);
}

}  // namespace starling::chaos_live
