// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"
#include "workload/queue_tree.h"

namespace starling {

/// How many GPUs of each queue, and of each user where that is limited, are handed out, and how
/// many more there may be. Arithmetic alone. A place is a queue: 0 is the flock, then those of the
/// tree in its order, so that each stands behind the one above it, then users of leaves that limit
/// them.
class QuotaRoom {
 public:
  using Place = std::uint32_t;
  static constexpr Place kFlock = 0, kNowhere = ~Place{0};
  /// By what GPUs handed out count less and less.
  static constexpr Duration kHalfLife = std::chrono::hours(24);

  struct Queue {
    Place above = kNowhere;
    std::uint64_t most = 0;
    std::uint64_t given = 0;  ///< with all below it
    std::uint64_t guaranteed = 0;
    std::uint64_t guaranteed_below = 0;  ///< what those below it are sure of, together
    double weight = 1;
    double average = 0;  ///< GPUs of `given` over time, decayed
  };

  /// All queues together may have at most the GPUs and a quarter more.
  QuotaRoom(const QueueTree& tree, std::uint64_t gpus);

  /// Where GPUs of an account count: its user; its queue; the nearest queue above that there is.
  [[nodiscard]] Place place_of(const QueueTree& tree, const QuotaAccount& account);
  [[nodiscard]] const Queue& at(Place place) const noexcept { return queues_[place]; }
  [[nodiscard]] std::size_t size() const noexcept { return queues_.size(); }
  /// Without users: those are behind.
  [[nodiscard]] std::size_t queues() const noexcept { return limited_.size(); }
  [[nodiscard]] bool is_user(Place place) const noexcept { return place >= limited_.size(); }
  [[nodiscard]] std::uint64_t left(Place place) const noexcept {
    const Queue& q = queues_[place];
    return q.most - (q.given < q.most ? q.given : q.most);
  }

  void give(Place place, std::uint64_t gpus) noexcept;
  void take(Place place, std::uint64_t gpus) noexcept;
  /// So much time has passed with what is handed out now.
  void pass(Duration time) noexcept;
  /// What a queue has had so far.
  void set_average(Place place, double average) noexcept { queues_[place].average = average; }

 private:
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> limited_;  ///< by queue: what one user may have there, or kNoLimit
  std::map<QuotaAccount, Place> users_;
};

}  // namespace starling
