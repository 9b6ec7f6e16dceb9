// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launch/profile/bench.h"

namespace starling {

struct CampaignOptions {
  std::string samples_file;  ///< every visit is appended here before the next begins
  std::string mark;          ///< samples_mark()
  bool resume = false;       ///< go on from the samples file where there is one
  /// Passes over the disturbed visits once all are measured; the less disturbed result stays.
  std::uint32_t again = 1;
  std::function<bool()> stop;
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// Measures what of the plan is not measured yet: all pairs of a round in random order, round by
/// round. Returns one sample per visit. Errors: `busy`, it was asked to stop: the samples file
/// has what was measured and another campaign can go on with it (before the first visit is over
/// there is none). `conflict`: there is a samples
/// file, and `resume` is not set. `invalid`: that file is of another campaign, or damaged.
[[nodiscard]] Result<std::vector<ProfileSample>> run_campaign(const ProfilePlan& plan,
                                                              const CampaignOptions& options,
                                                              ProfileBench& bench);

}  // namespace starling
