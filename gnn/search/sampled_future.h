// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "gnn/search/rollout_start.h"
#include "policies/placement/decision_point.h"

namespace starling {

/// Guesses the future of one partition from its past, as a home sees it: how much longer jobs take
/// is drawn from what their home expects and how wrong that was (RemainingTimes), who comes from
/// those who came lately and how soon after one another.
class FutureSampler {
 public:
  static constexpr std::size_t kArrivals = 256;

  /// Before each draw, and whenever there is something to see. One partition only.
  void observe(const View& view);
  /// Enough has been seen to guess who comes.
  [[nodiscard]] bool knows() const noexcept { return came_.size() >= 2; }
  /// Number `sample` of `of` futures that belong together: over all of them every job's time left
  /// takes each part of its distribution once, so that their mean has less noise. For the jobs of
  /// the view, and at most `most` arrivals within `horizon`. Deterministic.
  struct Which {
    std::uint32_t sample = 0, of = 1;
    std::uint64_t seed = 0;  ///< of all `of`
  };
  [[nodiscard]] RolloutFuture draw(const DecisionPoint& point, Duration horizon, std::size_t most,
                                   const Which& which) const;

 private:
  struct Came {
    double gap_s = 0;  // after the one before
    JobSpec spec;
  };
  void add_arrivals(const DecisionPoint& point, double horizon_s, std::size_t most, Rng& rng,
                    RolloutFuture& out) const;

  std::vector<Came> came_;  // a ring
  std::size_t next_came_ = 0;
  bool any_came_ = false;
  std::uint64_t last_order_ = 0;
  Instant last_came_;
};

}  // namespace starling
