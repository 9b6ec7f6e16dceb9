// SPDX-License-Identifier: Apache-2.0
// Which agents take part, and which know whose key: F30 and F31.
#include <algorithm>
#include <utility>

#include "sim/chaos/chaos_faults.h"

namespace starling {

/// As `starling members add` and `remove`: the list is written, and each partition that it gives to
/// another moves within a second or so, by the two that it concerns.
void ChaosFaults::change_members(World& world, Rng& rng, Dose) {
  std::set<AgentId> hosts = members_.hosts;
  if (hosts.empty()) {
    for (std::uint32_t a = 0; a < agents_; ++a) hosts.insert(AgentId{a});
  }
  const AgentId member{rng.below(agents_)};
  const bool takes_part = hosts.contains(member);
  if (takes_part && agents_ > 1 && rng.chance(0.4)) return lose_member(world, rng, member);
  if (takes_part && hosts.size() == 1) return;
  takes_part ? (void)hosts.erase(member) : (void)hosts.insert(member);
  ++counts_[takes_part ? "F30-members: one leaves" : "F30-members: one joins"];
  members_ =
      balanced(members_, std::move(hosts), agents_, [](PartitionId, AgentId) { return true; });
  for (std::uint32_t a = 0; a < agents_; ++a)
    hand_over_in(world, AgentId{a}, from_seconds(0.1 + rng.uniform()));
}

/// With all that it serves. Others take that when its leases have lapsed, and give it back later.
void ChaosFaults::lose_member(World& world, Rng& rng, AgentId member) {
  for (std::uint32_t a = 0; a < agents_; ++a) {
    const AgentId agent{a};
    const NodeId node = agent_node(agent);
    const auto other = serving_.find(PartitionId{a});
    if ((other == serving_.end() ? agent : other->second) != member) continue;
    if (cut_off(world, node) || !went_down(node)) continue;
    ++counts_["F30-members: one dies"];
    world.crash_agent(agent);
    const Duration late = knobs_.lease + from_seconds(2 * rng.uniform());
    const AgentId next{(member.value + 1 + rng.below(agents_ - 1)) % agents_};
    world.at(world.now() + late, [this, agent, node, next](World& w) {
      if (down_.erase(node) == 0) return;
      serving_[PartitionId{agent.value}] = next;
      if (!w.take_over(agent, Duration{0}).ok()) stopped(w, node);
    });
    hand_over_in(world, agent, late + from_seconds(1 + 30 * rng.uniform()));
  }
}

void ChaosFaults::hand_over_in(World& world, AgentId partition, Duration wait) {
  world.at(world.now() + wait, [this, partition](World& w) { hand_over(w, partition); });
}

/// Its host ends between two cycles and gives the lease back; the next one has it at the next
/// epoch, at a place of its own. One that is down, or does not reach the authority, is not asked:
/// later again.
void ChaosFaults::hand_over(World& world, AgentId partition) {
  const PartitionId id{partition.value};
  const AgentId to = members_.host_of(id);
  const auto now = serving_.find(id);
  if ((now == serving_.end() ? partition : now->second) == to) return;
  const NodeId node = agent_node(partition);
  const bool ready = world.agent(partition) != nullptr && !world.is_old_copy(partition) &&
                     !down_.contains(node) && !cut_off(world, node);
  if (!ready) return hand_over_in(world, partition, std::chrono::seconds(5));
  ++counts_["F30-members: handed over"];
  serving_[id] = to;
  went_down(node);
  world.crash_agent(partition);
  const Duration gap = from_seconds(0.5 * state("F30-members").rng.uniform());
  world.at(world.now() + gap, [this, partition, node](World& w) {
    if (down_.erase(node) == 0) return;
    if (!w.take_over(partition, Duration{0}).ok()) stopped(w, node);
  });
}

std::string ChaosFaults::misplaced() const {
  for (std::uint32_t a = 0; a < agents_; ++a) {
    const PartitionId id{a};
    const AgentId should = members_.host_of(id);
    const auto now = serving_.find(id);
    const AgentId is = now == serving_.end() ? AgentId{a} : now->second;
    const std::string who = "partition " + std::to_string(a);
    if (!members_.is_host(should))
      return who + " is to be served by agent " + std::to_string(should.value) +
             ", which is no member";
    if (is != should)
      return who + " is served by agent " + std::to_string(is.value) + ", not by agent " +
             std::to_string(should.value);
  }
  return {};
}

/// The new list reaches everybody some time, the node has its new key some time, and some time the
/// old one is taken out of the list.
void ChaosFaults::exchange_key(World& world, Rng& rng, Dose) {
  const NodeId node = any(rng);
  world.keys().made(node);
  spread_list(world, rng, node);
  world.at(world.now() + from_seconds(30 * rng.uniform()), [this, node](World& w) {
    if (!healed_) w.keys().used(node);
  });
  world.at(world.now() + from_seconds(10 + 40 * rng.uniform()), [this, node](World& w) {
    if (healed_) return;
    w.keys().dropped(node);
    spread_list(w, state("F31-keys").rng, node);
  });
}

void ChaosFaults::spread_list(World& world, Rng& rng, NodeId of) {
  for (const NodeId reader : nodes_) {
    const double most_s = rng.chance(0.8) ? 5 : 30;
    world.at(world.now() + from_seconds(most_s * rng.uniform()), [this, reader, of](World& w) {
      if (!healed_) w.keys().read(reader, of);
    });
  }
}

}  // namespace starling
