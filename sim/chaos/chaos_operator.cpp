// SPDX-License-Identifier: Apache-2.0
// Takeovers (F3, F23) and what people do (F24).
#include <algorithm>

#include "agents/executor/executor_state.h"
#include "sim/chaos/chaos_faults.h"
#include "topology/fingerprint.h"

namespace starling {
/// Half of the old owners know when their leases end, and say nothing from then on. The other half
/// does not, so that epochs have something to fence, too.
Status ChaosFaults::depose(World& world, AgentId agent, Duration lasts) {
  if (leases_.chance(0.5)) world.lapse(agent, Duration{0});
  return world.take_over(agent, lasts);
}

/// Stands still, loses its partition when its lease has lapsed, and goes on with all that has
/// arrived meanwhile.
void ChaosFaults::zombie(World& world, Rng& rng, Dose) {
  const AgentId agent{rng.below(agents_)};
  const Duration sleeps = knobs_.lease + outage(rng);
  const Duration lives_on = from_seconds(30 * knobs_.faults * rng.uniform());
  if (down_.contains(agent_node(agent))) return;
  world.pause(agent_node(agent), sleeps);
  const Duration left = sleeps - knobs_.lease + lives_on;
  world.at(world.now() + knobs_.lease, [this, agent, left](World& w) {
    if (healed_ || down_.contains(agent_node(agent))) return;
    if (!depose(w, agent, left).ok()) stopped(w, agent_node(agent));
  });
}

/// Of an agent that is dead, or alive and unaware of it for up to two minutes.
void ChaosFaults::take_over(World& world, Rng& rng, Dose) {
  const AgentId agent{rng.below(agents_)};
  down_.erase(agent_node(agent));
  if (!depose(world, agent, outage(rng)).ok()) stopped(world, agent_node(agent));
}

void ChaosFaults::take_over_late(World& world, Rng& rng, Dose) {
  const AgentId agent{rng.below(agents_)};
  const NodeId node = agent_node(agent);
  if (!down_.insert(node).second) return;
  world.crash_agent(agent);
  const Duration late = from_seconds(seconds(knobs_.lease) + 60 * knobs_.faults * rng.uniform());
  world.at(world.now() + late, [this, agent, node](World& w) {
    if (down_.erase(node) == 0) return;
    if (!w.take_over(agent, Duration{0}).ok()) stopped(w, node);
  });
}

/// Both have seen the same epoch; one of them comes first and the other does nothing.
void ChaosFaults::two_candidates(World& world, Rng& rng, Dose) {
  const AgentId agent{rng.below(agents_)};
  const NodeId node = agent_node(agent);
  if (down_.contains(node)) return;
  const Epoch seen = world.epoch(agent);
  if (!world.try_take_over(agent, seen, outage(rng))) return stopped(world, node);
  world.at(world.now() + from_seconds(0.2 * rng.uniform()), [this, agent, seen](World& w) {
    const bool granted = w.try_take_over(agent, seen, Duration{0});
    ++counts_[granted ? "F23-candidates: both granted" : "F23-candidates: one refused"];
  });
}

void ChaosFaults::cancel(World& world, Rng& rng, Dose) {
  const auto& wanted = world.users().wanted();
  const JobId id = wanted[rng.below(static_cast<std::uint32_t>(wanted.size()))].spec.id;
  const JobOutcome& job = *world.users().find(id);
  if (job.over()) return;
  if (clients_ == 1 || rng.chance(0.7)) {
    if (world.cancel(id)) return;
  }
  // Another client's, or no client's: said once, to where it is thought to be.
  ++counts_["F24-cancel: by another client"];
  world.ask(job.home, Cancel{id}, any_client(rng));
}

/// The word may get lost. What is still held when all is healed is released then
/// (chaos_phases.cpp).
void ChaosFaults::change(World& world, Rng& rng, Dose) {
  const auto& wanted = world.users().wanted();
  const JobId id = wanted[rng.below(static_cast<std::uint32_t>(wanted.size()))].spec.id;
  const JobOutcome& job = *world.users().find(id);
  if (job.over()) return;
  static constexpr JobChange kChanges[] = {JobChange::hold, JobChange::release, JobChange::requeue,
                                           JobChange::requeue_hold};
  const JobChange change = kChanges[rng.below(4)];
  const std::uint32_t client = any_client(rng);
  world.ask(job.home, StatusQuery{}, client);  // the answer says whether the next change is known
  world.ask(job.home, ChangeJob{id, change, job.state.attempt_epoch, job.state.attempt_number},
            client);
}

/// The home that a job is thought to be at, or any: users do not know better either.
void ChaosFaults::ask(World& world, Rng& rng, Dose) {
  const auto& wanted = world.users().wanted();
  const JobId id = wanted[rng.below(static_cast<std::uint32_t>(wanted.size()))].spec.id;
  const JobOutcome& job = *world.users().find(id);
  const std::uint32_t client = any_client(rng);
  const AgentId agent = rng.chance(0.7) ? job.home : AgentId{rng.below(agents_)};
  switch (rng.below(4)) {
    case 0:
      return world.ask(agent, ListJobs{rng.chance(0.5) ? JobId{} : id, 1 + rng.below(50)}, client);
    case 1:
      return world.ask(agent, Explain{id}, client);
    case 2:
      if (clients_ > 1 && rng.chance(0.5)) return world.ask(agent, Query{id}, client);
      return world.ask(agent, StatusQuery{}, client);
    default: {
      const JobState& state = job.state;
      const AttemptId attempt{id, state.attempt_epoch, state.attempt_number};
      const bool placed =
          !state.placement.empty() && state.placement.front().value < world.topology().gpu_count();
      const ServerId server = !placed ? ServerId{rng.below(world.topology().server_count())}
                                      : world.topology().server_of(state.placement.front());
      ReadOutput read{attempt, server, client_node(client)};
      read.from_end = rng.below(1000);
      return world.ask(world.owner_of(server), read, client);
    }
  }
}

/// The word may get lost, and so may the one that ends it; the next one counts.
void ChaosFaults::drain(World& world, Rng& rng, Dose) {
  const ServerId server{rng.below(world.topology().server_count())};
  world.drain(server, true, rng.chance(0.5));
  drained_.insert(server);
  world.at(world.now() + outage(rng), [this, server](World& w) {
    if (!healed_) w.drain(server, false);
  });
}

/// A rolling restart that stops half way, goes back, and is gone on with: each version meets each.
/// Once there are queues no agent goes back to a version that knows none: it would limit nothing.
void ChaosFaults::change_version(World& world, Rng& rng, Dose) {
  const NodeId node = any_server(rng);
  const bool queues = wanted_queues_.version > 0 && is_agent(node);
  const std::uint16_t oldest = queues ? kQueuesProtocol : kOldestProtocol;
  const auto protocol =
      static_cast<std::uint16_t>(oldest + rng.below(kNewestProtocol - oldest + 1U));
  if (!near_misled(world, node)) world.set_protocol(node, protocol);
  kill(world, rng, node);
}

/// The previous protocol does not say which topology a node has read, so nothing would tell.
bool ChaosFaults::near_misled(const World& world, NodeId node) const {
  for (std::uint32_t e = 0; e < world.executors(); ++e) {
    if (!world.misled(e)) continue;
    if (node == executor_node(e) || node == agent_node(AgentId{e / executors_each_})) return true;
  }
  return false;
}

/// Its servers have other numbers of GPUs there. Its journal tells it, or its owner, which works
/// without it until the operator has put that right.
void ChaosFaults::mislead(World& world, Rng& rng, Dose) {
  const std::uint32_t executor = rng.below(world.executors());
  const Duration lasts = outage(rng);
  if (servers_changed()) return;  // that site is made like the first one
  const Executor* core = world.executor(executor);
  const AgentId owner{executor / executors_each_};
  const Agent* theirs = world.agent(owner);
  const auto present = [&](NodeId node, std::uint16_t now) {
    return std::min(world.protocol(node), now) >= kNewestProtocol;
  };
  if (core == nullptr || !present(executor_node(executor), core->config().protocol) ||
      !present(agent_node(owner), theirs == nullptr ? kNewestProtocol : theirs->config().protocol))
    return;
  const auto journal = world.disk(executor_node(executor)).recover();
  if (!journal) return;
  ExecutorConfig config = core->config();
  config.topology = fingerprint_of(*wrong_);
  const bool fits = fits_journal(config, *wrong_, journal.value()).ok();
  ++counts_[fits ? "F24-topology: held off by its owner" : "F24-topology: refused"];
  world.mislead(executor, wrong_);
  bring_back(world, executor_node(executor));
  world.at(world.now() + lasts, [this, executor](World& w) {
    if (!w.misled(executor)) return;
    w.mislead(executor, nullptr);
    if (!down_.contains(executor_node(executor))) bring_back(w, executor_node(executor));
  });
}

}  // namespace starling
