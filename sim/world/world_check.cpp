// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "agents/executor/executor_state.h"
#include "agents/explain/describe.h"
#include "agents/step/state.h"
#include "bus/wire/roles.h"
#include "sim/check/ledger_view.h"
#include "sim/check/means.h"
#include "sim/world/node_hash.h"
#include "sim/world/world_parts.h"

namespace starling {

namespace {

constexpr std::uint32_t kBelieved = 64;

/// The first line that only one of them has; empty: they are equal.
std::string first_difference(const std::string& memory, const std::string& journal) {
  if (memory == journal) return {};
  std::istringstream a(memory), b(journal);
  std::string in_memory, in_journal;
  while (in_memory == in_journal) {
    if (!std::getline(a, in_memory)) in_memory = "no more";
    if (!std::getline(b, in_journal)) in_journal = "no more";
    if (!a && !b) break;
  }
  return "memory says: " + in_memory + "; the journal: " + in_journal;
}

}  // namespace

/// Every node that has run: its limits, what only grows, and what it has just written.
void World::Parts::check_those_that_ran() {
  std::sort(ran.begin(), ran.end());
  ran.erase(std::unique(ran.begin(), ran.end()), ran.end());
  for (const std::size_t index : ran) {
    const SimNode& node = *nodes[index];
    if (node.running == nullptr || newer.contains(index)) continue;
    const bool has_written = wrote.contains(index) && !node.journal->refused();
    const auto look = [&](const auto& state) {
      checker->look_at(clock.now(), node.id, state);
      if (has_written && restarts) checker->remembers(clock.now(), node.id, state);
    };
    if (const Agent* agent = agent_core(index)) {
      look(agent->state());
    } else if (role_of(node.id) == Role::executor) {
      look(static_cast<const ExecutorNode&>(*node.running).core().state());
    } else {
      checker->shows(clock.now(), node.id, static_cast<ClientNode&>(*node.running).core().jobs());
    }
  }
  wrote.clear();
}

/// Whether any ledger is not as the checker last saw it.
bool World::Parts::ledgers_moved() {
  sights.resize(agent_configs.size());
  bool moved = false;
  for (std::size_t a = 0; a < agent_configs.size(); ++a) {
    const Agent* agent = agent_core(a);
    const Incarnation life = agent == nullptr ? Incarnation{0} : agent->config().incarnation;
    Sight& sight = sights[a];
    const bool other = life != sight.life;
    if (!other && !std::binary_search(ran.begin(), ran.end(), a)) continue;
    const std::uint64_t moves = agent == nullptr ? 0 : ledger_moves(*agent);
    // What the ledger says of itself is believed for so many cycles.
    if (!other && moves == sight.moves && ++sight.still < kBelieved) continue;
    const std::uint64_t ledger = agent == nullptr ? 0 : ledger_signature(*agent);
    moved = moved || other || ledger != sight.ledger;
    sight = {ledger, moves, 0, life};
  }
  return moved;
}

Status World::Parts::check() {
  if (!hardware->overlap().empty()) checker->overlap(clock.now(), hardware->overlap());
  if (!hardware->overclaimed().empty()) checker->overclaimed(clock.now(), hardware->overclaimed());
  check_those_that_ran();
  const bool moved = ledgers_moved();
  ran.clear();
  if (moved || hardware->changes() != checked) {
    const WorldView world = view();
    checker->look(clock.now(), world);
    if (const std::string what = overdrawn(topology, world.processes); !what.empty())
      checker->overdrawn(clock.now(), what);
  }
  checked = hardware->changes();
  if (const auto& violation = checker->violation()) return {Errc::conflict, *violation};
  return done();
}

WorldView World::Parts::view() const {
  WorldView world;
  for (SimProcess& process : hardware->processes()) {
    world.processes.push_back(
        {process.attempt, std::move(process.gpus), process.each, process.allocation});
  }
  for (std::size_t a = 0; a < agent_configs.size(); ++a) {
    const Agent* agent = agent_core(a);
    if (agent == nullptr || newer.contains(a)) continue;
    world.ledgers.push_back(ledger_view(*agent));
  }
  return world;
}

/// As a crash would find it. A write that was refused is in memory alone, rightly.
Status World::Parts::compare_with_journal(std::size_t index) {
  const SimNode& node = *nodes[index];
  if (node.journal == nullptr || node.journal->refused() || node.journal->damaged()) return done();
  // A node that was told it is outlived has ended in the middle of a cycle.
  if (is_client(index) || outlived.contains(node.id)) return done();
  auto recovered = node.journal->recover();
  if (!recovered) return recovered.error();
  std::string wrong;
  if (const Agent* agent = agent_core(index)) {
    auto policy = policies.make(options.policy);
    if (!policy) return policy.error();
    const Agent again(agent->config(), topology, *speed, std::move(policy).value(), Rng(0),
                      recovered.value());
    wrong = first_difference(durable_state(agent->state()), durable_state(again.state()));
    checker->remembers(clock.now(), node.id, again.state());
  } else {
    const Executor& core = static_cast<const ExecutorNode&>(*node.running).core();
    const Executor again(core.config(), core.state().topology, recovered.value());
    wrong = first_difference(durable_state(core.state()), durable_state(again.state()));
    checker->remembers(clock.now(), node.id, again.state());
  }
  return wrong.empty() ? done() : Status(Errc::conflict, wrong);
}

World::Parts::Footprint World::Parts::footprint_of(const SimNode& node) const {
  const NodeCounters& counters = node.running->counters();
  Footprint print{hash_of(*node.running), 0,
                  counters.records,       counters.frames_out,
                  hardware->changes(),    node.running->next_deadline()};
  if (const Agent* agent = agent_core(index_of(node.id))) print.ledger = ledger_signature(*agent);
  return print;
}

/// A corrupt frame has just been handed to this node, and nothing else.
Status World::Parts::refused_well(std::size_t index, const Footprint& before,
                                  std::uint64_t refused) const {
  const SimNode& node = *nodes[index];
  if (checker == nullptr || node.running == nullptr) return done();
  if (refusals(*node.running) == refused) {
    checker->took_refused(clock.now(), node.id, "took a corrupt frame for a good one");
  } else if (footprint_of(node) != before) {
    checker->took_refused(clock.now(), node.id, "a frame that it refused changed its state");
  }
  return done();
}

}  // namespace starling
