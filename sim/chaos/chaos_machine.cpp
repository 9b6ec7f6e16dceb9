// SPDX-License-Identifier: Apache-2.0
// What real machines and jobs do to those who start and stop them: F28.
#include "sim/chaos/chaos_faults.h"

namespace starling {

void ChaosFaults::slow_starts(World& world, Rng& rng, Dose dose) {
  manners_.seed ^= rng.next();
  manners_.start = from_seconds((dose == Dose::mild ? 2 : 20) * rng.uniform());
  manners_.lost = (dose == Dose::mild ? 0.02 : 0.2) * rng.uniform();
  world.hardware().set_manners(manners_);
}

/// What stays behind is gone well before lost_after(), which has half a minute for it.
void ChaosFaults::slow_stops(World& world, Rng& rng, Dose dose) {
  manners_.seed ^= rng.next();
  manners_.stop = from_seconds(10 * rng.uniform());
  manners_.deaf = (dose == Dose::mild ? 0.1 : 0.5) * rng.uniform();
  manners_.stays = (dose == Dose::mild ? 0.1 : 0.5) * rng.uniform();
  manners_.stay = from_seconds(20 * rng.uniform());
  world.hardware().set_manners(manners_);
}

void ChaosFaults::failing_jobs(World& world, Rng& rng, Dose dose) {
  manners_.seed ^= rng.next();
  manners_.fails = (dose == Dose::mild ? 0.1 : 0.5) * rng.uniform();
  world.hardware().set_manners(manners_);
}

void ChaosFaults::kill_guardian(World& world, Rng& rng, Dose) {
  const std::uint32_t executor = rng.below(world.executors());
  world.hardware().kill_guardian(executor, rng.below(1000));
}

}  // namespace starling
