// SPDX-License-Identifier: Apache-2.0
#include "sim/check/changes.h"

#include <algorithm>

namespace starling {

std::string Changes::compare(const Last& last, const AgentState& now) {
  if (now.owner.ledger.version() < last.version) return "S9 the ledger's version has fallen";
  for (std::size_t p = 0; p < last.epochs.size() && p < now.flock.peers.size(); ++p) {
    if (now.flock.peers[p].epoch < last.epochs[p])
      return "S7 the epoch of partition " + std::to_string(p) + " has fallen";
  }
  for (const auto& [attempt, phase] : last.holds) {
    const Hold* hold = now.owner.ledger.find(attempt);
    if (hold == nullptr || hold->phase >= phase) continue;
    return "S9 the hold of " + to_string(attempt) + " went back from " + name_of(phase) + " to " +
           name_of(hold->phase);
  }
  return {};
}

std::string Changes::look(NodeId node, const AgentState& now) {
  Last& last = last_[node];
  std::string wrong;
  if (now.config.incarnation == last.incarnation) {
    wrong = compare(last, now);
  } else {
    last = Last{};
  }
  last.incarnation = now.config.incarnation;
  last.epochs.clear();
  for (const PeerState& peer : now.flock.peers) last.epochs.push_back(peer.epoch);
  // Most cycles change no hold: then the old map is right.
  const auto& holds = now.owner.ledger.holds();
  const bool same = std::equal(last.holds.begin(), last.holds.end(), holds.begin(), holds.end(),
                               [](const auto& was, const auto& is) {
                                 return was.first == is.first && was.second == is.second.phase;
                               });
  if (!same) {
    last.holds.clear();
    for (const auto& [attempt, hold] : holds)
      last.holds.emplace_hint(last.holds.end(), attempt, hold.phase);
  }
  last.version = now.owner.ledger.version();
  return wrong;
}

std::string Changes::look(NodeId node, const ExecutorState& now) {
  LastExecutor& last = executors_[node];
  const bool fell = now.config.incarnation == last.incarnation && now.epoch < last.epoch;
  last = {now.config.incarnation, now.epoch};
  return fell ? "the epoch that it obeys has fallen" : std::string{};
}

}  // namespace starling
