// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "agents/config.h"
#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// The timers of a scenario's flock: the product's, or, with `orphan`, that one and in proportion
/// the grace of a kill and the allowance for late frames, as 10 s and 30 s are to 300 s, but not
/// less than works.
[[nodiscard]] inline Timers timers_of(const FlockShape& shape) {
  Timers timers;
  if (shape.orphan <= 0) return timers;
  const double share = shape.orphan / 3;
  timers.orphan = from_seconds(shape.orphan);
  timers.kill_grace = from_seconds(std::min(10.0, share));
  timers.late = from_seconds(std::min(30.0, share));
  return timers;
}

}  // namespace starling::chaos_live
