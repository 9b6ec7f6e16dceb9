#include "sim/changes.h"

namespace starling {

std::string over_limit(const AgentState& agent) {
  const Limits& limits = agent.config.limits;
  const auto over = [](const char* what, std::size_t have, std::size_t most) {
    return have <= most ? std::string()
                        : std::to_string(have) + " " + what + ", and " + std::to_string(most) +
                              " is the limit";
  };
  // Jobs that other homes give away come in beside those of clients, and one may be just ending.
  std::string wrong = over("jobs", agent.jobs.size(), limits.jobs_waiting);
  if (wrong.empty())
    wrong = over("remembered jobs", agent.remembered.size(), limits.jobs_remembered);
  if (wrong.empty())
    wrong = over("tombstones", agent.ledger.tombstones().size(), limits.tombstones);
  std::size_t reserved = 0;
  for (const auto& [attempt, hold] : agent.ledger.holds())
    reserved += hold.phase == HoldPhase::reserved ? 1 : 0;
  if (wrong.empty()) wrong = over("reserved shares", reserved, limits.holds);
  return wrong;
}

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
    if (std::string wrong = over_limit(now); !wrong.empty()) return who("S11 " + wrong);
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
