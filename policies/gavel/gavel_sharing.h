// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "policies/gavel/gavel_allocation.h"

namespace starling {

enum class GavelObjective : std::uint8_t {
  fifo,
  max_min_fairness,
  finish_time_fairness,
  makespan,
  throughput
};

/// Fractions of time where two jobs may share GPUs.
struct GavelShares {
  GavelAllocation alone;
  /// By two rows, the earlier one first, and by type: the time that both run on the same GPUs.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> together;
};

/// The objectives of gavel_allocation.h over single jobs and GavelProblem::pairs. Jobs of a kind
/// are one variable, so the program grows with kinds and not with jobs; what a kind gets is split
/// evenly over its jobs, and what two kinds get together over as few pairs of their jobs as it
/// takes. For finish-time fairness and makespan it is split by what each needs, and a kind counts
/// as served when its jobs' needs add up: an approximation where one job of a kind needs much more
/// than the others.
///
/// fifo: in order of arrival, each on its fastest type that has room; then those that found none
/// join the job on whose GPUs both together are fastest.
[[nodiscard]] GavelShares share_gpus(const GavelProblem& problem, GavelObjective objective);

}  // namespace starling
