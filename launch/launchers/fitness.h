// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.h"

namespace starling {

/// Whether this machine can start processes. After a start that failed for want of descriptors,
/// memory or disk it cannot, until a trial start has worked; trials come at growing distances.
class Fitness {
 public:
  struct Pauses {
    Duration first = std::chrono::seconds(1), longest = std::chrono::seconds(60);
  };
  explicit Fitness(Pauses pauses) : pauses_(pauses) {}

  [[nodiscard]] bool fit() const noexcept { return next_ == kNever; }
  /// When a trial is due; kNever while all is well.
  [[nodiscard]] Instant next() const noexcept { return next_; }
  void failed(Instant now) {
    pause_ = fit() ? pauses_.first : std::min(2 * pause_, pauses_.longest);
    next_ = later(now, pause_);
  }
  void worked() { next_ = kNever; }

 private:
  Pauses pauses_;
  Duration pause_{0};
  Instant next_ = kNever;
};

}  // namespace starling
