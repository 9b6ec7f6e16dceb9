#include "agents/state.h"
#include "sim/world_parts.h"

namespace starling {

Status World::Parts::check() {
  if (!hardware->overlap().empty()) checker->overlap(clock.now(), hardware->overlap());
  checker->look(clock.now(), view());
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
    for (const auto& [attempt, hold] : state.ledger.holds()) {
      ledger.holds.emplace_back(attempt, hold.gpus);
    }
    world.ledgers.push_back(std::move(ledger));
  }
  return world;
}

}  // namespace starling
