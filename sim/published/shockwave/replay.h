// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/published/shockwave/round_world.h"

namespace starling {

/// Runs the jobs that a schedule names, round by round; none after its end. `rounds` outlives it.
class ReplayedRounds final : public RoundPolicy {
 public:
  explicit ReplayedRounds(const std::vector<RoundPlaces>& rounds) : rounds_(rounds) {}
  void added(std::size_t /*job*/, const RoundView& /*view*/) override {}
  void ran(std::size_t /*job*/, const RoundRan& /*what*/, const RoundView& /*view*/) override {}
  void removed(std::size_t /*job*/) override {}
  std::vector<std::size_t> choose(const RoundView& view) override {
    std::vector<std::size_t> chosen;
    if (view.round >= rounds_.size()) return chosen;
    for (const auto& [job, where] : rounds_[view.round]) {
      if (view.jobs.contains(job)) chosen.push_back(job);
    }
    return chosen;
  }

 private:
  const std::vector<RoundPlaces>& rounds_;
};

}  // namespace starling
