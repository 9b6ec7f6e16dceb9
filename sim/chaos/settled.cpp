// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/settled.h"

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"

namespace starling {
namespace {

std::string agent_text(std::uint32_t a) { return "agent " + std::to_string(a); }
std::uint32_t executor_of(const OwnedExecutor& executor) {
  return executor.node.value - kFirstExecutor;
}

std::string left_at(const World& world, const AgentState& state) {
  for (const OwnedExecutor& executor : state.owner.executors) {
    if (!executor.trusted && !world.retired(executor_of(executor))) return " is still reconciling";
  }
  if (!state.home.jobs.empty()) {
    return " still has " + std::to_string(state.home.jobs.size()) + " jobs, the first " +
           name_of(state.home.jobs.begin()->second.stage());
  }
  if (!state.owner.ledger.holds().empty())
    return " still holds " + std::to_string(state.owner.ledger.holds().size()) + " shares";
  std::uint32_t lost = 0;
  for (const OwnedExecutor& executor : state.owner.executors) {
    if (!world.retired(executor_of(executor))) continue;
    for (std::uint32_t s = executor.servers.first; s < executor.servers.last; ++s)
      lost += world.topology().server(ServerId{s}).gpus.size();
  }
  if (state.owner.ledger.quarantined_count() > lost)
    return " has " + std::to_string(state.owner.ledger.quarantined_count()) + " GPUs quarantined";
  return {};
}

std::string disagrees_with(const AgentState& me, const AgentState& peer, const PeerState& view) {
  if (view.epoch != peer.config.epoch) {
    return " believes in epoch " + std::to_string(view.epoch.value) + " of partition " +
           std::to_string(peer.owner.partition.id.value) + ", which is at epoch " +
           std::to_string(peer.config.epoch.value);
  }
  if (!view.digest || view.digest->free != peer.owner.ledger.free_count() ||
      view.digest->waiting != peer.home.waiting_jobs()) {
    return " has a digest of partition " + std::to_string(peer.owner.partition.id.value) +
           (view.digest ? " that says " + std::to_string(view.digest->free) + " GPUs are free"
                        : " no more") +
           ", and " + std::to_string(peer.owner.ledger.free_count()) + " are";
  }
  if (me.config.protocol >= 3 && peer.config.protocol >= 3) {
    std::vector<ServerRoom> rooms;
    ServerRooms().read(peer.owner.ledger.gpus(), rooms);
    if (view.digest->rooms != rooms) {
      return " has a digest of partition " + std::to_string(peer.owner.partition.id.value) +
             " that says other CPUs and memory are left there than are";
    }
  }
  if (me.now - view.watch.last_heard > 4 * me.config.timers.heartbeat)
    return " has not heard from the owner of partition " +
           std::to_string(peer.owner.partition.id.value);
  return {};
}

}  // namespace

std::string left_over(World& world) {
  const std::size_t processes = world.hardware().processes().size();
  if (processes > 0) return std::to_string(processes) + " processes still run";
  for (std::uint32_t a = 0; a < world.agents(); ++a) {
    const Agent* agent = world.agent(AgentId{a});
    if (agent == nullptr) return agent_text(a) + " is down";
    if (const std::string left = left_at(world, agent->state()); !left.empty())
      return agent_text(a) + left;
  }
  for (std::uint32_t e = 0; e < world.executors(); ++e) {
    const std::string who = "executor " + std::to_string(e);
    if (world.retired(e)) continue;
    if (world.executor(e) == nullptr) return who + " is down";
    const auto& runs = world.executor(e)->state().runs;
    if (!runs.empty()) return who + " still knows of " + std::to_string(runs.size()) + " attempts";
  }
  return {};
}

std::string disagreement(World& world) {
  for (std::uint32_t a = 0; a < world.agents(); ++a) {
    const AgentState& me = world.agent(AgentId{a})->state();
    if (world.any_deposed(AgentId{a})) return agent_text(a) + " has two owners";
    if (world.epoch(AgentId{a}) != me.config.epoch) return agent_text(a) + " has an old epoch";
    const std::uint64_t mine = world.queues(AgentId{a}).version;
    const std::uint64_t keepers = world.queues(AgentId{0}).version;
    if (mine < keepers) {
      return agent_text(a) + " goes by queues of version " + std::to_string(mine) +
             ", and those of version " + std::to_string(keepers) + " are in force";
    }
    for (const PeerState& view : me.flock.peers) {
      if (view.peer.agent == me.config.me) continue;
      const AgentState& peer = world.agent(view.peer.agent)->state();
      if (std::string what = disagrees_with(me, peer, view); !what.empty())
        return agent_text(a) + what;
    }
    for (const OwnedExecutor& owned : me.owner.executors) {
      const std::uint32_t e = executor_of(owned);
      if (world.retired(e)) continue;
      const ExecutorState& executor = world.executor(e)->state();
      if (executor.epoch != me.config.epoch)
        return "executor " + std::to_string(e) + " obeys another epoch than its owner's";
      if (me.now - owned.watch.last_heard > 4 * me.config.timers.heartbeat)
        return agent_text(a) + " has not heard from executor " + std::to_string(e);
    }
  }
  return {};
}

namespace {

/// What an agent gets wrong about the others.
std::string beliefs(World& world, const AgentState& me) {
  std::string text;
  for (const PeerState& view : me.flock.peers) {
    const Agent* peer = world.agent(view.peer.agent);
    if (view.peer.agent == me.config.me || peer == nullptr) continue;
    const std::string wrong = disagrees_with(me, peer->state(), view);
    if (!wrong.empty()) text += "," + wrong;
  }
  return text;
}

/// Executors whose GPUs it does not give out, and what stands between them.
std::string untrusted(World& world, const AgentState& me) {
  std::string text;
  for (const OwnedExecutor& owned : me.owner.executors) {
    if (owned.trusted && !owned.watch.foreign) continue;
    const std::uint32_t e = executor_of(owned);
    text += ", executor " + std::to_string(e) + " has not answered";
    if (owned.watch.foreign) text += ", has read another topology";
    text += ", was heard " + std::to_string(seconds(me.now - owned.watch.last_heard)) + " s ago";
    const Executor* executor = world.executor(e);
    text += executor == nullptr
                ? " and is down"
                : " and speaks protocol " + std::to_string(executor->config().protocol);
  }
  return text;
}

}  // namespace

namespace {

std::string kept_back_text(const Job& job) {
  if (job.back() == JobReason::none) return {};
  std::string text = std::string(" kept back: ") + name_of(job.back());
  if (job.back() == JobReason::quota)
    text += ", queue '" + job.spec->queue + "', user '" + job.spec->user + "'";
  for (std::size_t i = 0; i < job.spec->terms.after.size(); ++i) {
    const After& after = job.spec->terms.after[i];
    const bool met = (job.met >> i & 1) != 0;
    if (!met) text += std::string(", after ") + name_of(after.how) + ":" + to_string(after.job);
  }
  return text;
}

std::string way_text(const JobState& state) {
  return " after " + std::to_string(state.forwards) + " moves and " +
         std::to_string(state.attempts) + " attempts";
}

/// What an agent remembers of a job that it has not got.
std::string remembered_text(const AgentState& state, const JobId& job) {
  const Remembered& past = state.home.remembered;
  if (const auto over = past.ended.find(job); over != past.ended.end())
    return std::string(name_of(over->second.phase)) + way_text(over->second);
  if (past.archive.contains(job)) return "in its archive";
  if (const auto gone = past.moved.find(job); gone != past.moved.end())
    return "moved to " + agent_text(gone->second.to.value) + " by offer " +
           std::to_string(gone->second.forwards);
  if (past.archive.owed().contains(job)) return "forgotten";
  return "";
}

/// Jobs that are not over to their users, and that no home has.
std::string nowhere(World& world) {
  std::string text;
  for (std::uint32_t place = 0; place < world.users().places(); ++place) {
    const Client* client = world.users().client(place);
    if (client == nullptr) continue;
    for (const JobOutcome& job : client->jobs()) {
      if (terminal(job.state.phase)) continue;
      text += "; " + to_string(job.job) + " is " + name_of(job.state.phase) + " at " +
              agent_text(job.state.home.value) + way_text(job.state) + " to its user, who asks " +
              agent_text(job.home.value);
      for (std::uint32_t a = 0; a < world.agents(); ++a) {
        const Agent* agent = world.agent(AgentId{a});
        if (agent == nullptr) continue;
        const std::string known = remembered_text(agent->state(), job.job);
        if (!known.empty()) text += ", " + agent_text(a) + ": " + known;
      }
    }
  }
  return text;
}

}  // namespace

std::string unfinished(World& world) {
  const Client::Counts counts = world.users().counts();
  std::string text = std::to_string(counts.jobs - counts.over()) + " of " +
                     std::to_string(counts.jobs) + " jobs are not over, " +
                     std::to_string(counts.accepted) + " were accepted";
  for (std::uint32_t a = 0; a < world.agents(); ++a) {
    const Agent* agent = world.agent(AgentId{a});
    if (agent == nullptr) continue;
    const AgentState& state = agent->state();
    text += "; " + agent_text(a) + " of " + std::to_string(state.owner.partition.gpus.size()) +
            " GPUs, " + std::to_string(state.owner.ledger.free_count()) + " free, " +
            std::to_string(state.owner.ledger.quarantined_count()) + " quarantined, " +
            std::to_string(state.owner.ledger.drained_count()) + " drained, protocol " +
            std::to_string(state.config.protocol) + beliefs(world, state) + untrusted(world, state);
    for (const auto& [id, job] : state.home.jobs) {
      text += ", " + to_string(id) + " " + name_of(job.stage()) + " for " +
              std::to_string(job.spec->gpus()) + " GPUs (" + job.trouble + ")" +
              kept_back_text(job);
    }
  }
  return text + nowhere(world);
}

}  // namespace starling
