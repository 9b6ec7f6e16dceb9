// SPDX-License-Identifier: Apache-2.0
// Faults of disks: F13 to F16. A journal is SQLite or etcd in the real program: a batch is there as
// a whole or not at all, and damage is found when it is read.
#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "sim/chaos/chaos_faults.h"

namespace starling {

void ChaosFaults::fill_disk(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  world.disk(node).faults().room = rng.below(50);
  world.at(world.now() + outage(rng), [node](World& w) { w.disk(node).faults().room.reset(); });
}

void ChaosFaults::fail_write(World& world, Rng& rng, Dose) {
  world.disk(any_server(rng)).faults().fails_once = true;
}

void ChaosFaults::break_disk(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  world.disk(node).faults().fails = true;
  world.at(world.now() + outage(rng), [node](World& w) { w.disk(node).faults().fails = false; });
}

void ChaosFaults::stop_in_write(World& world, Rng& rng, Dose) {
  static constexpr DiskFaults::Stop kWhen[] = {DiskFaults::Stop::before, DiskFaults::Stop::torn,
                                               DiskFaults::Stop::after};
  world.disk(any_server(rng)).faults().stop = kWhen[rng.below(3)];
}

/// Found at the next start, so the node is killed, too. Of a partition in etcd the other members
/// have the record; an executor's file comes from the operator's copy.
void ChaosFaults::flip_bit(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  if (!world.disk(node).damage(rng.next())) return;
  kill(world, rng, node);
}

namespace {

/// Whole words of noise with a checksum that is right: what only the policy itself can refuse.
void alter_with_checksum(std::vector<std::byte>& memory, Rng& rng) {
  if (memory.size() < 2 * sizeof(std::uint64_t)) return;
  const std::size_t checked = memory.size() - sizeof(std::uint64_t);
  for (std::uint32_t words = 1 + rng.below(4); words > 0; --words) {
    const std::size_t at = 8 * rng.below(static_cast<std::uint32_t>(checked / 8));
    const std::uint64_t noise = rng.next();
    std::memcpy(&memory[at], &noise, sizeof noise);
  }
  TraceHash hash;
  hash.add(std::span<const std::byte>(memory).first(checked));
  for (unsigned i = 0; i < 8; ++i)
    memory[checked + i] = static_cast<std::byte>(hash.value() >> (8 * i));
}

void spoil(std::vector<std::byte>& memory, const std::vector<std::byte>& others, Rng& rng) {
  const auto size = static_cast<std::uint32_t>(memory.size());
  switch (rng.below(5)) {
    case 0:
      return memory.clear();
    case 1:
      return memory.resize(rng.below(size + 1));
    case 2:
      memory = others;
      return;
    case 3:
      return alter_with_checksum(memory, rng);
    default:
      memory.resize(1 + rng.below(5000));
      for (std::byte& byte : memory) byte = static_cast<std::byte>(rng.below(256));
  }
}

}  // namespace

/// Read at the next start, so the agent is killed, too. Nothing but the quality of its decisions
/// may notice.
void ChaosFaults::spoil_memory(World& world, Rng& rng, Dose) {
  const AgentId agent{rng.below(agents_)}, other{rng.below(agents_)};
  spoil(world.policy_memory(agent), world.policy_memory(other), rng);
  spoil(world.speed_memory(agent), world.policy_memory(other), rng);
  kill(world, rng, agent_node(agent));
}

/// Now a backup is made of a node, now the one that was made of it is restored. Not before others
/// have heard that its journal had gone on: a copy that no peer knows to be old is not found out
/// (docs/reliability.md).
void ChaosFaults::restore(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  if (down_.contains(node) || world.disk(node).damaged()) return;
  if (is_agent(node) && world.is_old_copy(AgentId{node.value - 1})) return;
  const auto [made, fresh] = backups_.try_emplace(node, Copy{world.backup(node)});
  Copy& copy = made->second;
  if (fresh) return;
  if (world.disk(node).position() <= copy.of.journal->position()) return;
  if (copy.outlived == kNever) copy.outlived = world.now();
  if (world.now() - copy.outlived < times_heard() || !all_hear_all()) return;
  if (!world.can_start(node, copy.of).ok()) {  // its servers have left or changed: of no use
    ++counts_["F15-restored: a copy of other servers"];
    backups_.erase(made);
    return;
  }
  if (is_agent(node))
    return run_old_copy(world, AgentId{node.value - 1}, backups_.extract(made).mapped().of);
  const std::uint32_t executor = executor_of(node);
  const AgentId owner{executor / executors_each_};
  // It may have been down all the time, or be an old copy itself.
  if (world.is_old_copy(owner) || !world.knows_newer(agent_node(owner), node, copy.of)) return;
  const World::Backup backup = backups_.extract(made).mapped().of;
  // As with a new disk: what an owner of long ago says would find no node that knows a later one.
  if (world.retired(executor) || world.any_deposed_speaks(owner)) return;
  ++counts_["F15-restored: an executor"];
  set_back_.insert(node);
  world.restore_executor(executor, backup);
  went_down(node);
  bring_back_in(world, node, from_seconds(10 * rng.uniform()));
}

/// No fault keeps the nodes' words from one another just now, but chance.
bool ChaosFaults::all_hear_all() const { return cuts_.empty() && racks_cut_.empty(); }

/// Within this others have heard a node that spoke with every heartbeat.
Duration ChaosFaults::times_heard() const { return 20 * knobs_.timers.heartbeat; }

/// A second time, beside the right state: it has ended on the word of others, or is ended, before
/// it could decide anything. Then the agent goes on from the right one.
void ChaosFaults::run_old_copy(World& world, AgentId agent, const World::Backup& backup) {
  const NodeId node = agent_node(agent);
  if (cut_off(world, node) || world.any_deposed(agent)) return;
  // An executor that does not know yet that it is an old copy would take this one for the newest.
  const auto is_its = [&](NodeId id) { return executor_of(id) / executors_each_ == agent.value; };
  if (std::ranges::any_of(set_back_, is_its)) return;
  // It may have stood still, or been heard by none, ever since it went on from what was copied.
  const auto tells = [&](NodeId id) {
    return id != node && (is_agent(id) || is_its(id)) && world.knows_newer(id, node, backup);
  };
  if (std::ranges::none_of(nodes_, tells)) return;
  ++counts_["F15-restored: an agent"];
  const Duration roll_call = 4 * knobs_.timers.heartbeat;
  went_down(node);
  if (!world.start_old_copy(agent, backup).ok()) return stopped(world, node);
  bring_back_in(world, node, roll_call / 2);
}

/// A copy of an agent with open jobs, the later ones rather than the first; with extreme doses half
/// of the times nothing is left.
void ChaosFaults::choose_loss(World& world, Rng& rng, Dose dose) {
  const AgentId agent{rng.below(agents_)};
  const bool nothing = dose == Dose::extreme && rng.chance(0.5);
  const Agent* core = world.agent(agent);
  if (core == nullptr || core->state().home.jobs.empty() || world.is_old_copy(agent)) return;
  if (world.disk(agent_node(agent)).damaged() || (loss_ && rng.chance(0.5))) return;
  loss_ = Loss{agent, world.backup(agent_node(agent))};
  if (nothing)
    loss_->left = {std::make_shared<const MemoryJournal>(MemoryJournal::Keep::bytes), {}};
}

void ChaosFaults::slow_disks(World& world, Rng& rng, Dose dose) {
  for (const NodeId node : nodes_) {
    if (rng.chance(0.5)) continue;
    DiskFaults& disk = world.disk(node).faults();
    disk.slow_chance = dose == Dose::mild ? 0.3 : 0.1;
    disk.slow_most = from_seconds((dose == Dose::mild ? 0.05 : 5) * rng.uniform());
  }
}

}  // namespace starling
