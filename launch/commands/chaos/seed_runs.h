// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "sim/chaos/chaos.h"

namespace starling {

/// Runs of a simulation, each seed in one of some child processes: a broken invariant ends the
/// process that ran it, and is that seed's failure.
struct SeedRuns {
  std::uint64_t first = 1, count = 1;
  std::uint32_t processes = 1;
  std::function<ChaosRun(std::uint64_t seed)> run;
  std::function<void(std::uint64_t seed, double wall_s)> wait = nullptr;  ///< as SeedPool::waits

  /// Calls `take` with each run, in the order in which they end. `io`: no process is to be had.
  Status each(const std::function<void(ChaosRun run, double wall_s)>& take) const;
  /// The same in the order of their seeds.
  Status in_order(const std::function<void(const ChaosRun& run, double wall_s)>& take) const;
};

}  // namespace starling
