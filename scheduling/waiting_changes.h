// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace starling {

/// What has come to a list of waiting jobs, and what has left it elsewhere than at its front: so
/// that a reader of the list before need not compare all of it. The last two hundred are kept.
class WaitingChanges {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  void note(std::uint64_t order) { orders_[count_++ % kKept] = order; }
  /// How many there have been; hand it to least_since() the next time.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The smallest order that came or left since then: before it nothing has changed, but for
  /// jobs that left at the front. kNone: nothing has; 0: too much, so nothing is known.
  [[nodiscard]] std::uint64_t least_since(std::uint64_t seen) const {
    if (seen > count_ || count_ - seen > kKept) return 0;
    std::uint64_t least = kNone;
    for (; seen < count_; ++seen) least = std::min(least, orders_[seen % kKept]);
    return least;
  }

 private:
  static constexpr std::size_t kKept = 200;
  std::array<std::uint64_t, kKept> orders_{};
  std::uint64_t count_ = 0;
};

}  // namespace starling
