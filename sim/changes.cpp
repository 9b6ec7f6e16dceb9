#include "sim/changes.h"

#include "agents/describe.h"

namespace starling {

std::string Changes::compare(const Last& last, const AgentState& now) {
  if (now.ledger.version() < last.version) return "S9 the ledger's version has fallen";
  for (std::size_t p = 0; p < last.epochs.size() && p < now.peers.size(); ++p) {
    if (now.peers[p].epoch < last.epochs[p])
      return "S7 the epoch of partition " + std::to_string(p) + " has fallen";
  }
  for (const auto& [attempt, phase] : last.holds) {
    const Hold* hold = now.ledger.find(attempt);
    if (hold == nullptr || hold->phase >= phase) continue;
    return "S9 the hold of " + to_string(attempt) + " went back from " + name_of(phase) + " to " +
           name_of(hold->phase);
  }
  return {};
}

std::string Changes::look(std::span<const AgentState* const> agents) {
  last_.resize(agents.size());
  for (std::size_t a = 0; a < agents.size(); ++a) {
    if (agents[a] == nullptr) continue;
    const AgentState& now = *agents[a];
    Last& last = last_[a];
    const auto who = [&](const std::string& what) {
      return what + " (agent " + std::to_string(a) + ")";
    };
    if (now.config.incarnation == last.incarnation) {
      if (std::string wrong = compare(last, now); !wrong.empty()) return who(wrong);
    }
    if (const auto over = over_limits(now)) return who("S11 " + *over);
    last.incarnation = now.config.incarnation;
    last.version = now.ledger.version();
    last.epochs.clear();
    for (const PeerState& peer : now.peers) last.epochs.push_back(peer.epoch);
    last.holds.clear();
    for (const auto& [attempt, hold] : now.ledger.holds())
      last.holds.emplace_hint(last.holds.end(), attempt, hold.phase);
  }
  return {};
}

}  // namespace starling
