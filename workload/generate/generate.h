// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/rng.h"
#include "workload/job.h"

namespace starling {

/// A made-up trace with the statistics of Microsoft's Philly cluster (2017): gang sizes,
/// heavy-tailed durations, bursts of equal jobs, models from the catalogue.
struct TraceGeneratorOptions {
  std::uint32_t jobs = 2000;
  std::uint32_t cluster_gpus = 512;  ///< what `load` is relative to; gangs never exceed it
  double load = 0.8;                 ///< GPU time submitted per second / cluster_gpus
  double mean_duration_s = 0;        ///< 0: Philly's own, capped at max_duration_s
  double max_duration_s = 86'400;
  std::uint64_t seed = 1;
};

/// Same options, same trace. `invalid` if an option is out of range.
[[nodiscard]] Result<Trace> generate_trace(const TraceGeneratorOptions& options);

}  // namespace starling
