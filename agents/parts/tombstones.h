// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// What is left of an attempt that is over.
struct Tombstone {
  Duration served{0};  ///< for those that ask again
  Instant since;
  bool durable = false;  ///< it is in the journal
};

/// The attempts that are over, so that what comes late cannot bring one back. At most `limit`: then
/// the oldest goes, which full_of_young() lets an owner avoid.
class Tombstones {
 public:
  explicit Tombstones(std::size_t limit) : limit_(limit) {}

  /// A repeat changes nothing.
  void add(AttemptId attempt, Tombstone stone);
  /// Of one that is there; else nothing.
  void set_served(AttemptId attempt, Duration served);
  [[nodiscard]] const Tombstone* find(AttemptId attempt) const;
  [[nodiscard]] bool contains(AttemptId attempt) const { return stones_.contains(attempt); }
  /// Adding another would drop one from after `before`.
  [[nodiscard]] bool full_of_young(Instant before) const;

  /// Drops those from before `before` that `wanted` does not ask for; gives the durable ones.
  /// O(those that are that old).
  std::vector<AttemptId> sweep(Instant before, const std::function<bool(AttemptId)>& wanted);
  void drop(std::span<const AttemptId> attempts);
  /// All count as made at `now`: those of an earlier life have no instant of their own.
  void date(Instant now);

  [[nodiscard]] std::size_t size() const noexcept { return stones_.size(); }
  [[nodiscard]] const std::map<AttemptId, Tombstone>& all() const noexcept { return stones_; }
  /// Oldest first.
  [[nodiscard]] const std::deque<AttemptId>& order() const noexcept { return order_; }

 private:
  std::size_t limit_;
  std::map<AttemptId, Tombstone> stones_;
  std::deque<AttemptId> order_;
};

}  // namespace starling
