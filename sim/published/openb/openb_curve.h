// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/fractional/pack_run.h"

namespace starling {

/// Allocated GPUs in % of all, for each percent of all GPUs asked for so far, as the published
/// evaluation of FGD counts it: after each pod, what was asked for is rounded to whole percents
/// (half to even) and what is allocated to hundredths of one; a point is the mean of its pods.
/// `points` of them from 0 on; NaN where no pod falls.
[[nodiscard]] std::vector<double> allocation_curve(std::span<const PackEvent> events,
                                                   std::int64_t cluster_gpu_milli,
                                                   std::size_t points);

}  // namespace starling
