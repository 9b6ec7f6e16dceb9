#include "agents/state.h"
#include "sim/world_parts.h"

namespace starling {

namespace {

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
  if (now_seen != checked) checker->look(clock.now(), view());
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
    const AgentState& state = agent->state();
    LedgerView ledger;
    ledger.partition = state.partition.id;
    ledger.owner = agent_node(state.config.me);
    ledger.gpus = state.partition.gpus;
    ledger.reconciling = state.reconciling();
    ledger.free = state.ledger.free_count();
    ledger.quarantined = state.ledger.quarantined_count();
    ledger.sick = state.ledger.sick_count();
    ledger.drained = state.ledger.drained_count();
    for (const auto& [attempt, hold] : state.ledger.holds()) {
      ledger.holds.emplace_back(attempt, hold.gpus);
    }
    world.ledgers.push_back(std::move(ledger));
  }
  return world;
}

}  // namespace starling
