// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/scaled_clock.h"

#include <algorithm>

#include "launch/deployment/transport.h"

namespace starling {
namespace {

constexpr Duration kOldestDigest = std::chrono::seconds(30);
constexpr Duration kLongestHold = std::chrono::hours(12);

Duration times(Duration d, double factor) {
  return d == Duration::max() ? d : from_seconds(seconds(d) * factor);
}

}  // namespace

ScaledClock::ScaledClock(double speedup) : speedup_(speedup), origin_(machine_clock().now()) {}

Instant ScaledClock::now() const noexcept {
  const auto passed = static_cast<double>((machine_clock().now() - origin_).count());
  return Instant(Duration(static_cast<std::int64_t>(passed * speedup_)));
}

Instant ScaledClock::on_machine(Instant at) const noexcept {
  if (at == kNever) return kNever;
  const double passed = static_cast<double>(at.time_since_epoch().count()) / speedup_;
  // Rounded up: a sleeper must not wake too early, again and again.
  return later(origin_, Duration(static_cast<std::int64_t>(passed) + 1));
}

Duration ScaledClock::stretched(Duration d) const noexcept { return times(d, speedup_); }

Timers stretched(Timers t, double speedup) {
  for (Duration* d :
       {&t.heartbeat, &t.digest_min, &t.bid, &t.start, &t.orphan_query, &t.retry_min, &t.retry_max,
        &t.kill_grace, &t.orphan, &t.reconfirm, &t.retention, &t.gpu_quiet, &t.late}) {
    *d = times(*d, speedup);
  }
  t.digest = std::max(t.digest, std::min(times(t.digest, speedup), kOldestDigest));
  t.hold = std::max(t.hold, std::min(times(t.hold, speedup), kLongestHold));
  return t;
}

}  // namespace starling
