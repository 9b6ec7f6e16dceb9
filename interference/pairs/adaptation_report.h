// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/learned/interference_net.h"
#include "interference/pairs/adaptation.h"
#include "interference/pairs/meta_train.h"

namespace starling {

/// A mean over seeds, with their standard deviation.
struct OverSeeds {
  double mean = 0, deviation = 0;
};
[[nodiscard]] OverSeeds over_seeds(std::span<const double> values);

/// What one arm did after one change of hardware, over all seeds.
struct AdaptationRow {
  std::string believed, world;
  AdaptationArm arm = AdaptationArm::shipped_random;
  OverSeeds to_half;           ///< measured pairs; runs that never got there count as all of them
  std::uint32_t never = 0;     ///< such runs
  std::vector<OverSeeds> mae;  ///< at AdaptationReport::at
  std::vector<OverSeeds> covered;  ///< coverage90, the same
};

struct AdaptationReport {
  std::vector<std::uint32_t> at;  ///< measured pairs
  std::uint32_t seeds = 0;
  std::vector<AdaptationRow> rows;  ///< by change, then in the order of kAdaptationArms
};

/// Changes between Gavel's campaigns (folder/gavel/colocated.csv), both ways on each GPU type, and,
/// where folder/h100_pairs/pairs.csv is, from V100s to an H100 by time slices and under MPS. Each
/// change is judged with a prior that was learned without its world, over seeds 1 to `seeds`.
/// Errors name the file.
[[nodiscard]] Result<AdaptationReport> report_adaptation(
    const InterferenceNet& net, const std::filesystem::path& folder,
    const AdaptationOptions& options, std::uint32_t seeds, const MetaOptions& meta,
    const std::function<void(const std::string& change)>& progress = {});

[[nodiscard]] std::string to_text(const AdaptationReport& report);
[[nodiscard]] std::string to_json(const AdaptationReport& report);

}  // namespace starling
