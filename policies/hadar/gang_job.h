// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "topology/demand.h"
#include "topology/placement.h"

namespace starling {

/// How fast a gang is, by index of GPU type in the topology, in its own speed at its best. 0: it
/// does not go there.
struct TypePaces {
  std::vector<double> one;       ///< of one worker, to say which types are faster
  std::vector<double> together;  ///< of all workers on one server
  std::vector<double> apart;     ///< over several servers, this being the slowest type among them
};

/// A job as the market of GPUs sees it. Times are in rounds.
struct GangJob {
  std::uint32_t workers = 1, gpus_per_worker = 1;
  Demand each = {};  ///< with each GPU
  const TypePaces* paces = nullptr;
  double left = 1;      ///< what remains, at its best
  double elapsed = 0;   ///< since it was submitted
  double weight = 1;    ///< of its utility
  double restart = 0;   ///< what it costs to start elsewhere than it is
  Placement now = {};   ///< where it runs; empty: nowhere
  double pace_now = 0;  ///< there

  [[nodiscard]] std::uint32_t gpus() const noexcept { return workers * gpus_per_worker; }
  /// If it is over after so much more.
  [[nodiscard]] double utility(double rest) const noexcept {
    return weight / std::max(elapsed + rest, 1e-6);
  }
  [[nodiscard]] double rest(double pace, bool moves) const noexcept {
    return left / std::max(pace, 1e-9) + (moves ? restart : 0.0);
  }
};

/// Whole rounds for which it holds its GPUs then.
[[nodiscard]] inline double rounds_of(double rest) noexcept {
  return std::clamp(std::ceil(rest - 1e-9), 1.0, 1e9);
}

}  // namespace starling
