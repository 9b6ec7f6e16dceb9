#include <sstream>

#include "agents/describe.h"
#include "agents/executor_state.h"
#include "agents/state.h"
#include "sim/node_hash.h"
#include "sim/world_parts.h"

namespace starling {

namespace {

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

/// Moves whenever something that the checker looks at may have moved.
std::uint64_t signature(const Hardware& hardware, const std::vector<const Agent*>& agents) {
  TraceHash hash;
  hash.add(hardware.changes());
  for (const Agent* agent : agents) {
    if (agent == nullptr) {
      hash.add(std::uint64_t{0});
      continue;
    }
    const AgentState& state = agent->state();
    hash.add(state.ledger.version() * 2 + (state.reconciling() ? 1 : 0) + 1);
    hash.add(state.ledger.holds().size());
    hash.add(state.config.incarnation.value);
  }
  return hash.value();
}

}  // namespace

Status World::Parts::check() {
  if (!hardware->overlap().empty()) checker->overlap(clock.now(), hardware->overlap());
  std::vector<const Agent*> agents;
  for (std::size_t a = 0; a < agent_configs.size(); ++a) agents.push_back(agent_core(a));
  const std::uint64_t now_seen = signature(*hardware, agents);
  if (now_seen != checked) {
    checker->look(clock.now(), view());
    std::vector<const AgentState*> states;
    for (const Agent* agent : agents) states.push_back(agent ? &agent->state() : nullptr);
    checker->look_at_changes(clock.now(), states);
  }
  checked = now_seen;
  if (const auto& violation = checker->violation()) return {Errc::conflict, *violation};
  return done();
}

WorldView World::Parts::view() const {
  WorldView world;
  for (SimProcess& process : hardware->processes()) {
    world.processes.push_back({process.attempt, std::move(process.gpus)});
  }
  for (std::size_t a = 0; a < agent_configs.size(); ++a) {
    const Agent* agent = agent_core(a);
    if (agent == nullptr) continue;
    world.ledgers.push_back(ledger_view(agent->state()));
  }
  return world;
}

/// As a crash would find it. A write that was refused is in memory alone, rightly.
Status World::Parts::compare_with_journal(std::size_t index) {
  const Seat& seat = *seats[index];
  if (seat.journal == nullptr || seat.journal->refused() || seat.journal->damaged()) return done();
  if (index + 1 == seats.size()) return done();
  auto recovered = seat.journal->recover();
  if (!recovered) return recovered.error();
  std::string wrong;
  if (const Agent* agent = agent_core(index)) {
    auto policy = policies.make(options.policy);
    if (!policy) return policy.error();
    const Agent again(agent->config(), topology, *speed, std::move(policy).value(), Rng(0),
                      recovered.value());
    wrong = first_difference(durable_state(agent->state()), durable_state(again.state()));
  } else {
    const Executor& core = static_cast<const ExecutorNode&>(*seat.node).core();
    const Executor again(core.config(), core.state().topology, recovered.value());
    wrong = first_difference(durable_state(core.state()), durable_state(again.state()));
  }
  return wrong.empty() ? done() : Status(Errc::conflict, wrong);
}

/// A corrupt frame has just been handed to this node, and nothing else.
Status World::Parts::refused_well(std::size_t index, std::uint64_t before,
                                  std::uint64_t refused) const {
  const Seat& seat = *seats[index];
  if (checker == nullptr || seat.node == nullptr) return done();
  if (refusals(*seat.node) == refused) {
    checker->took_refused(clock.now(), seat.id, "took a corrupt frame for a good one");
  } else if (hash_of(*seat.node) != before) {
    checker->took_refused(clock.now(), seat.id, "a frame that it refused changed its state");
  }
  return done();
}

}  // namespace starling
