// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos_knobs.h"

#include <algorithm>
#include <cmath>

namespace starling {

double draw_factor(Rng& rng, double most) { return std::pow(most, 2 * rng.uniform() - 1); }

void draw_timers(ChaosKnobs& knobs, Rng& rng, double most) {
  Timers& t = knobs.timers;
  const auto scale = [&](Duration& timer) {
    const double factor = draw_factor(rng, most);
    timer = from_seconds(seconds(timer) * factor);
    knobs.slowest = std::max(knobs.slowest, factor);
  };
  for (Duration* timer :
       {&t.heartbeat, &t.digest, &t.hold, &t.bid, &t.start, &t.orphan_query, &t.reconfirm,
        &t.retry_min, &t.retry_max, &t.kill_grace, &t.orphan, &t.gpu_quiet, &knobs.lease}) {
    scale(*timer);
  }
  // A partition changes hands by silence: a lease is some heartbeats long.
  knobs.lease = std::max(knobs.lease, 4 * t.heartbeat);
  t.retry_max = std::max(t.retry_max, t.retry_min);
  // Shares are held while the offers of others are waited for.
  t.hold = std::max(t.hold, 5 * t.bid);
  t = asking_within_orphan(t);
}

}  // namespace starling
