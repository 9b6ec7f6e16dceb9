// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/config.h"
#include "base/rng.h"

namespace starling {

/// What is long and what is short in one seed (FoundationDB calls these knobs). Where a limit of
/// the harness is shorter than a timer of the product, what the timer is for is never seen.
struct ChaosKnobs {
  Timers timers;
  Duration lease = std::chrono::seconds(5);  ///< of an owner, by the authority
  double jobs = 1;                           ///< times as long
  double faults = 1;                         ///< times as long, and as long a time with faults
  /// The slowest of the timers, as a multiple of its default; at least 1. What has to happen in the
  /// end may take so many times longer.
  double slowest = 1;
};

/// Factors between 1 / `most` and `most`, evenly in their logarithm, each timer by itself. Kept are
/// the orders that the protocol rests on: what is repeated before it lapses, and tombstones that
/// outlive all frames.
void draw_timers(ChaosKnobs& knobs, Rng& rng, double most);
[[nodiscard]] double draw_factor(Rng& rng, double most);

}  // namespace starling
