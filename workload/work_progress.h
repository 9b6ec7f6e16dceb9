// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/time.h"

namespace starling {

/// How far one attempt of a job has come: work that is done and left, at a rate that may change.
/// For every world that lets jobs run: simulated, emulated, played forward.
///
/// Work is time at rate 1, in whole nanoseconds. What is counted is rounded down and what the rest
/// takes is rounded up, so nothing is done early; at rate 1 both are exact. done() + left() stays
/// what it was at first. Times before counted_to() change nothing.
class WorkProgress {
 public:
  WorkProgress() = default;
  /// Begins at `from`, which may lie ahead: the processes start until then. Rate 0: it stands
  /// still. A rate is work per time, never negative.
  WorkProgress(Duration work, Instant from, double rate = 1) noexcept
      : left_(std::max(work, Duration{0})), counted_to_(from), rate_(rate) {}

  /// As of counted_to().
  [[nodiscard]] Duration done() const noexcept { return done_; }
  [[nodiscard]] Duration left() const noexcept { return left_; }
  [[nodiscard]] double rate() const noexcept { return rate_; }
  [[nodiscard]] Instant counted_to() const noexcept { return counted_to_; }

  /// Done between counted_to() and `now`.
  [[nodiscard]] Duration uncounted(Instant now) const noexcept {
    if (now <= counted_to_) return Duration{0};
    const Duration passed = now - counted_to_;
    if (rate_ == 1) return std::min(passed, left_);
    const double work = static_cast<double>(passed.count()) * rate_;
    if (work >= kBeyond) return left_;
    return std::min(Duration(static_cast<std::int64_t>(work)), left_);
  }
  /// Counts it, and returns it.
  Duration account(Instant now) noexcept { return count(uncounted(now), now); }
  /// Another rate from `now` on. Returns what was done until then.
  Duration set_rate(Instant now, double rate) noexcept {
    const Duration counted = account(now);
    rate_ = rate;
    return counted;
  }
  /// It stood still until `now`.
  void resume(Instant now) noexcept { counted_to_ = std::max(counted_to_, now); }
  /// All of it is done. Returns what was left.
  Duration finish(Instant now) noexcept { return count(left_, now); }
  /// When all will be done at this rate; kNever: not in the time there is.
  [[nodiscard]] Instant end() const noexcept {
    if (rate_ == 1) return later(counted_to_, left_);
    const double takes = std::ceil(static_cast<double>(left_.count()) / rate_);
    return takes < kBeyond ? later(counted_to_, Duration(static_cast<std::int64_t>(takes)))
                           : kNever;
  }

 private:
  static constexpr double kBeyond = 9e18;  // nanoseconds that a Duration may not hold

  Duration count(Duration work, Instant now) noexcept {
    done_ += work;
    left_ -= work;
    counted_to_ = std::max(counted_to_, now);
    return work;
  }

  Duration done_{0}, left_{0};
  Instant counted_to_{};
  double rate_ = 1;
};

}  // namespace starling
