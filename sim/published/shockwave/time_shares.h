// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/published/shockwave/share_rounds.h"

namespace starling {

// How the policies of Shockwave's simulator share the time of `gpus` equal GPUs. Jobs that the
// program of a policy does not tell apart get the same share.

/// Gandiva-Fair: each job as much of its time, at most all.
[[nodiscard]] TimeShares even_shares(const RoundView& view, std::uint32_t gpus);
/// Gavel's max_min_fairness: the least of share * GPUs is as large as it can be.
[[nodiscard]] TimeShares max_min_shares(const RoundView& view, std::uint32_t gpus);
/// max_sum_throughput_perf: the sum of share * steps/s is as large as it can be.
[[nodiscard]] TimeShares most_steps_shares(const RoundView& view, std::uint32_t gpus);
/// OSSP, min_total_duration: all is done as early as can be, to 5 %.
[[nodiscard]] TimeShares least_makespan_shares(const RoundView& view, std::uint32_t gpus);

}  // namespace starling
