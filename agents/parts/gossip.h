// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace starling {

/// Which agents one tells next, and what of all it knows, where a flock is too large for each
/// to tell all others.
///
/// An agent tells those 1, 2, 4, 8, ... numbers after it, in turn, what it has learned since it
/// last told them: if all did so in step, all would know everything after log2(flock) rounds
/// (dissemination; Hensgen, Finkel, Manber 1988). What a change costs is how many are told of it,
/// and does not grow with the flock. Deterministic, and no agent has a part of its own: one that
/// cannot be heard is passed over.
class Gossip {
 public:
  /// Agents told at a time.
  static constexpr std::size_t kFan = 3;
  /// Of those at most so many because they wait.
  static constexpr std::size_t kWaiting = 2;
  /// Words in one message: the latest.
  static constexpr std::size_t kMostWords = 32;

  Gossip(AgentId me, std::size_t flock);

  /// A newer word of `of` is known, by `from`; jobs wait there, or none. O(agents that wait).
  void learn(AgentId of, AgentId from, bool waits);
  /// It begins anew and knows nothing.
  void forget(AgentId peer) { agents_[peer.value].told = 0; }

  /// Something was learned since an agent was told.
  [[nodiscard]] bool has_news() const noexcept { return learned_ > told_; }
  /// Its own last word was told to no agent.
  [[nodiscard]] bool is_unheard() const noexcept { return agents_[me_].learned > told_; }

  /// Which to tell now, each once, at most kFan of those that listen (a predicate of AgentId). With
  /// `room` first some at which jobs wait, in turn: they have a use for the news. Good until the
  /// next call.
  template <class Listens>
  [[nodiscard]] const std::vector<AgentId>& next(bool room, Listens listens) {
    next_.clear();
    if (room) add_waiting(listens);
    for (std::size_t n = 0; n < distances() && next_.size() < kFan; ++n) {
      if (const auto peer = at_next_distance(listens)) add(*peer);
    }
    if (!next_.empty()) told_ = learned_;
    return next_;
  }
  /// Whose words to tell it: those that it does not have from here and did not say itself, the one
  /// learned last first. It counts as told. Good until the next call. O(the answer).
  [[nodiscard]] const std::vector<AgentId>& words_for(AgentId peer);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// `newer` and `older`: neighbours in the list of words by when they were learned.
  struct Known {
    std::uint64_t learned = 0;  // number of the word; 0: none
    std::uint64_t told = 0;     // words up to that number were told to it
    std::uint32_t from = kNone, newer = kNone, older = kNone;
  };

  [[nodiscard]] std::size_t distances() const noexcept;
  void unlink(std::uint32_t at);
  void add(AgentId peer);

  /// One that is not heard is passed over for the next after it, up to the next distance.
  template <class Listens>
  std::optional<AgentId> at_next_distance(Listens listens) {
    const auto all = static_cast<std::uint32_t>(agents_.size());
    const std::uint32_t first = 1U << distance_, last = std::min(2 * first, all);
    distance_ = (distance_ + 1) % static_cast<std::uint32_t>(distances());
    for (std::uint32_t d = first; d < last; ++d) {
      const AgentId peer{(me_ + d) % all};
      if (listens(peer)) return peer;
    }
    return std::nullopt;
  }
  template <class Listens>
  void add_waiting(Listens listens) {
    const auto from = std::ranges::upper_bound(waiting_, last_waiting_);
    const auto start = static_cast<std::size_t>(from - waiting_.begin());
    for (std::size_t n = 0; n < waiting_.size() && next_.size() < kWaiting; ++n) {
      const AgentId peer = waiting_[(start + n) % waiting_.size()];
      if (!listens(peer)) continue;
      last_waiting_ = peer;
      add(peer);
    }
  }

  std::uint32_t me_;
  std::vector<Known> agents_;  // by AgentId
  std::uint32_t newest_ = kNone;
  std::uint64_t learned_ = 0;     // words
  std::uint64_t told_ = 0;        // of those, when an agent was told last
  std::uint32_t distance_ = 0;    // the next peer stands 2^distance_ agents on
  std::vector<AgentId> waiting_;  // ascending; not this agent
  AgentId last_waiting_;
  std::vector<AgentId> next_, words_;
};

}  // namespace starling
