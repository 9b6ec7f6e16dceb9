// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace starling {

/// The one time line the core knows. It has no now(): drivers read clocks, the core is told.
/// Instants are local to one process; they are never sent and never compared across machines.
struct CoreTime {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<CoreTime>;
  static constexpr bool is_steady = true;
};
using Instant = CoreTime::time_point;
using Duration = CoreTime::duration;

constexpr Instant kNever = Instant::max();

[[nodiscard]] constexpr double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}
/// Nearest nanosecond; saturates instead of overflowing.
[[nodiscard]] constexpr Duration from_seconds(double s) {
  constexpr double limit = 9.2e9;
  if (s >= limit) return Duration::max();
  if (s <= -limit) return Duration::min();
  return Duration(static_cast<std::int64_t>(s * 1e9 + (s < 0 ? -0.5 : 0.5)));
}
/// at + d, or kNever when the sum would pass the end of time.
[[nodiscard]] constexpr Instant later(Instant at, Duration d) {
  return d > Duration::zero() && at > kNever - d ? kNever : at + d;
}

/// Reads time. Monotonic: an answer is never below an earlier one. Drivers own it; cores never see
/// it.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const noexcept = 0;
};

}  // namespace starling
