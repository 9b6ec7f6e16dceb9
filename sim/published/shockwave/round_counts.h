// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace starling {

/// What a job gains by each number of rounds that it may run in, from 0 on.
struct RoundWorth {
  std::uint32_t gpus = 1;
  std::vector<double> worth;   ///< rises, then stays
  std::vector<double> left_s;  ///< still to run afterwards; falls, then stays
  std::uint32_t least = 0;     ///< number of rounds
};

/// How many rounds each job runs in, so that the sum of their worths, less `per_second` of what the
/// longest has left, is as large as it can be, with at most `room` GPUs times rounds in all.
/// Nothing: the least numbers do not fit. The exact answer for each bound on what is left comes
/// from a table over the room that is used, as for a knapsack; bounds are searched by halves, and
/// dropped where even the worth at the upper end would not do.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> best_round_counts(
    const std::vector<RoundWorth>& jobs, std::uint32_t room, double per_second);

}  // namespace starling
