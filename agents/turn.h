#pragma once

#include <chrono>

#include "base/time.h"

namespace starling {

// Turns: what keeps streams of small jobs from starving a gang that spans partitions.
//
// A gang may take a turn when four of its rounds have failed, or when it can never fit into its
// home's partition and has waited for ten minutes. It then claims the partitions that it needs, in
// ascending order: an owner whose partition is claimed starts nothing new, so that its GPUs become
// free as what runs there ends, and says again and again what is. As soon as that is enough the
// gang reserves as in every other round. A turn lasts for the hold time, the next one twice as
// long, and between two turns as much time passes as the last one took, so that half of the time is
// everybody's. The gang that has waited longest wins; others give way at once and come again.
//
// Only where frames may get lost: in a perfect network policies alone decide, as published.

/// At the latest so long after it may first take a turn the gang that has waited longest starts, if
/// no job that runs has more than `longest_left` (up to five hours) left and all GPUs that it needs
/// are in service.
[[nodiscard]] constexpr Duration turn_bound(Duration longest_left) {
  return 5 * longest_left + std::chrono::minutes(2);
}

}  // namespace starling
