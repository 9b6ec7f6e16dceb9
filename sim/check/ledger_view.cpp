// SPDX-License-Identifier: Apache-2.0
#include "sim/check/ledger_view.h"

#include <algorithm>

#include "agents/agent/agent.h"
#include "agents/step/state.h"
#include "base/hash.h"

namespace starling {
namespace {

IndexRange gpus_of(const Topology& topology, IndexRange servers) {
  return {topology.server(ServerId{servers.first}).gpus.first,
          topology.server(ServerId{servers.last - 1}).gpus.last};
}

std::string gpu_text(std::uint32_t gpu) { return "GPU " + std::to_string(gpu); }

}  // namespace

LedgerView ledger_view(const Agent& agent) {
  const AgentState& state = agent.state();
  const Ledger& ledger = state.owner.ledger;
  LedgerView view;
  view.partition = state.owner.partition.id;
  view.owner = agent_node(state.config.me);
  view.gpus = state.owner.partition.gpus;
  for (const auto& [attempt, hold] : ledger.holds()) view.holds.emplace_back(attempt, hold.gpus);
  for (std::uint32_t g = view.gpus.first; g < view.gpus.last; ++g) {
    if (ledger.gpus().is_free(GpuId{g})) view.free.push_back(GpuId{g});
  }
  for (const OwnedExecutor& one : state.owner.executors) {
    view.executors.push_back(
        {one.node, gpus_of(state.topology, one.servers), one.trusted, one.starts.resting()});
  }
  view.bad.assign(ledger.sick().begin(), ledger.sick().end());
  for (const ServerId server : ledger.drained())
    view.drained.push_back(state.topology.server(server).gpus);
  view.counted = {ledger.free_count(), ledger.quarantined_count(), ledger.sick_count(),
                  ledger.drained_count()};
  const AgentStatus status = agent.status();
  view.told = {status.free, status.quarantined, status.sick, status.drained};
  return view;
}

std::uint64_t ledger_signature(const Agent& agent) {
  const AgentState& state = agent.state();
  TraceHash hash;
  const auto word = [&](std::uint64_t n) { hash.add(n); };
  word(state.config.incarnation.value);
  for (const auto& [attempt, hold] : state.owner.ledger.holds()) {
    word(attempt.job.hi ^ attempt.job.lo);
    word(attempt.number ^ (attempt.home_epoch.value << 48U));
    for (const GpuId gpu : hold.gpus) word(gpu.value);
  }
  std::uint64_t bits = 0, count = 0;
  const IndexRange gpus = state.owner.partition.gpus;
  for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
    bits = bits * 2 + (state.owner.ledger.gpus().is_free(GpuId{g}) ? 1 : 0);
    if (++count % 64 == 0) word(bits);
  }
  word(bits);
  for (const OwnedExecutor& one : state.owner.executors)
    word((one.trusted ? 1U : 0U) | (one.starts.resting() ? 2U : 0U));
  for (const GpuId gpu : state.owner.ledger.sick()) word(gpu.value);
  for (const ServerId server : state.owner.ledger.drained()) word(server.value);
  return hash.value();
}

std::uint64_t ledger_moves(const Agent& agent) {
  const OwnerState& owner = agent.state().owner;
  const Ledger& ledger = owner.ledger;
  TraceHash hash;
  hash.add(ledger.version());
  hash.add((ledger.holds().size() << 32U) | ledger.free_count());
  hash.add(ledger.held_count());
  for (const OwnedExecutor& one : owner.executors)
    hash.add((one.trusted ? 1U : 0U) | (one.starts.resting() ? 2U : 0U));
  for (const GpuId gpu : ledger.sick()) hash.add(gpu.value);
  for (const ServerId server : ledger.drained()) hash.add(server.value);
  return hash.value();
}

LedgerView::Figures recount(const LedgerView& ledger, std::uint32_t most, std::string& wrong) {
  const auto note = [&](const std::string& what) {
    if (wrong.empty()) wrong = what;
  };
  std::vector<std::uint32_t> held(ledger.gpus.size(), 0);
  for (const auto& [attempt, gpus] : ledger.holds) {
    for (const GpuId gpu : gpus) {
      if (!ledger.gpus.contains(gpu.value)) {
        note(gpu_text(gpu.value) + " is held for " + to_string(attempt) +
             " but is not of this partition");
      } else if (++held[gpu.value - ledger.gpus.first] > most) {
        note(gpu_text(gpu.value) + " is held too often, the last time for " + to_string(attempt));
      }
    }
  }
  const auto in = [](const auto& ranges, std::uint32_t gpu) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const IndexRange& range) { return range.contains(gpu); });
  };
  LedgerView::Figures figures;
  for (std::uint32_t g = ledger.gpus.first; g < ledger.gpus.last; ++g) {
    const bool unheard = std::any_of(
        ledger.executors.begin(), ledger.executors.end(),
        [&](const LedgerView::OfExecutor& one) { return one.gpus.contains(g) && !one.answered; });
    const bool resting = std::any_of(
        ledger.executors.begin(), ledger.executors.end(),
        [&](const LedgerView::OfExecutor& one) { return one.gpus.contains(g) && one.resting; });
    const bool bad = std::binary_search(ledger.bad.begin(), ledger.bad.end(), GpuId{g});
    const bool free = std::binary_search(ledger.free.begin(), ledger.free.end(), GpuId{g});
    const char* why = nullptr;
    if (held[g - ledger.gpus.first] > 0) {
      why = "held";
    } else if (bad || unheard) {
      why = bad ? "bad" : "of an executor that has not said what runs there";
      ++figures.quarantined;
      figures.sick += bad ? 1 : 0;
    } else if (in(ledger.drained, g)) {
      why = "drained";
      ++figures.drained;
    } else if (resting) {
      why = "of an executor that is left to rest";
      ++figures.quarantined;
    } else {
      ++figures.free;
    }
    if (free && why != nullptr) note(gpu_text(g) + " would be given away and is " + why);
    if (!free && why == nullptr) note(gpu_text(g) + " is lost: no job has it, and none gets it");
  }
  return figures;
}

}  // namespace starling
