// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/time.h"

namespace starling {

/// What one node reads as time: world time at a rate of its own. Never falls; at rate 1 and without
/// a stop it is world time to the nanosecond.
class LocalClock {
 public:
  [[nodiscard]] Instant at(Instant world) const {
    const Duration passed = std::max(Duration{0}, world - world_);
    if (rate_ == 1) return local_ + passed;
    return local_ +
           Duration(static_cast<std::int64_t>(static_cast<double>(passed.count()) * rate_));
  }
  /// The first instant of the world at which at() is `local` or later; kNever if that is too far.
  [[nodiscard]] Instant when(Instant local) const {
    if (local == kNever) return kNever;
    if (local <= local_) return world_;
    const Duration wanted = local - local_;
    if (rate_ == 1) return later(world_, wanted);
    const double wait = std::ceil(static_cast<double>(wanted.count()) / rate_);
    if (wait > 9e18) return kNever;
    Instant world = later(world_, Duration(static_cast<std::int64_t>(wait)));
    while (at(world) < local) world += Duration{1};
    return world;
  }
  /// Seconds of this clock per second of the world, from `now` on.
  void set_rate(Instant now, double rate) {
    local_ = at(now);
    world_ = std::max(world_, now);
    rate_ = rate;
  }

 private:
  Instant world_{}, local_{};
  double rate_ = 1;
};

}  // namespace starling
