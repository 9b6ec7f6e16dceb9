// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/gossip.h"

#include <algorithm>
#include <bit>

namespace starling {

Gossip::Gossip(AgentId me, std::size_t flock) : me_(me.value), agents_(flock) {}

/// 1, 2, 4, ... below the number of agents.
std::size_t Gossip::distances() const noexcept {
  return agents_.size() < 2 ? 0 : static_cast<std::size_t>(std::bit_width(agents_.size() - 1));
}

void Gossip::unlink(std::uint32_t at) {
  const Known& known = agents_[at];
  if (known.newer != kNone) agents_[known.newer].older = known.older;
  if (known.older != kNone) agents_[known.older].newer = known.newer;
  if (newest_ == at) newest_ = known.older;
}

void Gossip::learn(AgentId of, AgentId from, bool waits) {
  Known& known = agents_[of.value];
  if (known.learned > 0) unlink(of.value);
  known.learned = ++learned_;
  known.from = from.value;
  known.newer = kNone;
  known.older = newest_;
  if (newest_ != kNone) agents_[newest_].newer = of.value;
  newest_ = of.value;
  if (of.value == me_) return;
  const auto at = std::ranges::lower_bound(waiting_, of);
  const bool waited = at != waiting_.end() && *at == of;
  if (waits && !waited) waiting_.insert(at, of);
  if (!waits && waited) waiting_.erase(at);
}

void Gossip::add(AgentId peer) {
  if (std::ranges::find(next_, peer) == next_.end()) next_.push_back(peer);
}

const std::vector<AgentId>& Gossip::words_for(AgentId peer) {
  words_.clear();
  Known& known = agents_[peer.value];
  for (std::uint32_t at = newest_; at != kNone && words_.size() < kMostWords;
       at = agents_[at].older) {
    if (agents_[at].learned <= known.told) break;
    if (agents_[at].from != peer.value) words_.push_back(AgentId{at});
  }
  known.told = learned_;
  return words_;
}

}  // namespace starling
