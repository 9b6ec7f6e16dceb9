// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// Stretches or squeezes the submit times so that the GPU time submitted per second of the trace's
/// span is `load` times the cluster's GPUs. The order, the gangs, the durations and the shape of
/// the bursts stay. `invalid`, and the trace as it was, where all jobs come at once, or for a load
/// or a cluster that is not above 0.
[[nodiscard]] Status scale_to_load(Trace& trace, std::uint32_t cluster_gpus, double load);

}  // namespace starling
