// SPDX-License-Identifier: Apache-2.0
// What a world says of itself: to people, and as a hash to the search.
#include <algorithm>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "agents/testing/testing.h"
#include "base/hash.h"
#include "tests/search/world_frame.h"

namespace starling::search {

bool SmallWorld::settled() const { return leftovers().empty(); }

std::string SmallWorld::leftovers() const {
  if (!processes_.empty()) return std::to_string(processes_.size()) + " processes run";
  for (const JobId id : accepted_) {
    const bool over = std::any_of(agents_.begin(), agents_.end(), [&](const AgentSlot& slot) {
      return slot.core->state().home.remembered.ended.contains(id);
    });
    if (!over) return "job " + std::to_string(id.lo) + " was accepted and has not ended";
  }
  for (std::uint32_t a = 0; a < 2; ++a) {
    const AgentState& state = agents_[a].core->state();
    const std::string who = "agent " + std::to_string(a);
    if (!state.home.jobs.empty()) return who + " has open jobs";
    if (!state.owner.ledger.holds().empty())
      return who + " holds GPUs for " + to_string(state.owner.ledger.holds().begin()->first);
    if (state.owner.reconciling()) return who + " is still reconciling";
    if (state.owner.ledger.free_count() != state.owner.partition.gpus.size())
      return who + " lacks free GPUs";
  }
  return {};
}

std::string SmallWorld::describe(const Action& action) const {
  using Kind = Action::Kind;
  const auto node = [&](std::uint32_t n) {
    if (n < 2) return "agent " + std::to_string(n);
    return n < kDeposed ? "executor " + std::to_string(n - 2)
                        : "deposed agent " + std::to_string(deposed_agent_);
  };
  const auto frame_text = [&] {
    const Frame& f = frame(action.what);
    const std::string from = f.from.value >= kFirstClient ? "client" : node(slot_of(f.from));
    return from + " -> " + node(slot_of(f.to)) + ": " + starling::describe(f.message);
  };
  switch (action.kind) {
    case Kind::deliver:
      return frame_text();
    case Kind::repeat:
      return frame_text() + " (and once more later)";
    case Kind::stray:
      return frame_text() + " (at the deposed owner only)";
    case Kind::timeout:
      return "clock of " + node(action.node);
    case Kind::end:
    case Kind::fail: {
      const Process& p = processes_[action.what];
      return std::string(action.kind == Kind::fail ? "process fails: " : "process ends: ") +
             to_string(p.attempt) + " on executor " + std::to_string(p.executor);
    }
    case Kind::crash_agent:
      return node(action.node) + " crashes and is back";
    case Kind::take_over:
      return "partition of " + node(action.node) + " is taken over";
    case Kind::crash_executor:
      return node(action.node) + " crashes and is back, its processes live on";
    case Kind::crash_machine:
      return node(action.node) + " and its processes die; it is back";
  }
  return {};
}

std::uint64_t SmallWorld::fingerprint() const {
  TraceHash hash;
  const auto seen = [&](const std::array<Incarnation, 4>& all) {
    for (const Incarnation i : all) hash.add(i.value);
  };
  const auto agent = [&](const AgentSlot& slot) {
    hash.add(slot.core ? search::fingerprint(slot.core->state(), now_) : 0);
    hash.add(slot.journal_hash);
    seen(slot.seen);
  };
  for (const AgentSlot& slot : agents_) agent(slot);
  hash.add(deposed_ ? deposed_agent_ + 1 : 0);
  if (deposed_) agent(*deposed_);
  for (const ExecutorSlot& slot : executors_) {
    hash.add(search::fingerprint(slot.core->state()));
    hash.add(slot.journal_hash);
    seen(slot.seen);
  }
  for (const auto& f : frames_) hash.add(f->hash);
  for (const Process& p : processes_) {
    hash.add(p.attempt.job.lo);
    hash.add(p.attempt.home_epoch.value);
    hash.add(p.attempt.number);
    hash.add(p.server.value * 8 + (p.stopping ? 1 : 0) + (p.whole ? 2 : 0) + (p.reported ? 4 : 0));
  }
  hash.add((std::uint64_t{faults_left_} << 32U) | timeouts_left_);
  hash.add(used_);
  return hash.value();
}

}  // namespace starling::search
