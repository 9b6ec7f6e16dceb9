// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/published/shockwave/round_world.h"

namespace starling {

/// A run that the authors published.
struct PublishedRounds {
  double makespan_s = 0, mean_jct_s = 0;
  double worst_ratio = 0, unfair_share = 0;  ///< finish_time_ratios(): largest, part above 1.05
  std::vector<double> jct_s;                 ///< by job
  std::vector<RoundPlaces> rounds;
};

/// conformance/shockwave_120.json.gz with shockwave_120_schedule.csv.gz: the simulated runs of the
/// trace of so many jobs, by name. Those that were made to be compared with the real cluster are
/// left out: their jobs are others, and not published.
[[nodiscard]] Result<std::map<std::string, PublishedRounds>> read_published_rounds(
    const std::filesystem::path& data, std::size_t jobs);

/// Of each job the JCT over its time alone times the trace's jobs a GPU: Shockwave's finish-time
/// fairness, five digits.
[[nodiscard]] std::vector<double> finish_time_ratios(const std::vector<ShockwaveJob>& jobs,
                                                     const std::vector<double>& jct_s,
                                                     std::uint32_t gpus);

/// Do the same jobs run, wherever?
[[nodiscard]] bool same_jobs(const RoundPlaces& a, const RoundPlaces& b);

/// Times that a job held another number of GPUs in a round than it asked for, that a GPU was held
/// twice, or that there is none of its number.
[[nodiscard]] std::uint64_t misplaced(const std::vector<RoundPlaces>& rounds,
                                      const std::vector<ShockwaveJob>& jobs, std::uint32_t gpus);

}  // namespace starling
