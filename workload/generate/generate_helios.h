// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// A made-up trace with what was published of SenseTime's Helios (2020), whose jobs were not: the
/// Venus cluster's mean and median of GPUs (6.7, 1) and run time (13,041 s, 204 s), a day and night
/// of submissions, and bursts of up to 717 equal jobs.
struct HeliosGeneratorOptions {
  std::uint32_t jobs = 5000;
  std::uint32_t cluster_gpus = 1024;  ///< what `load` is relative to; gangs never exceed it
  double load = 0.8;                  ///< GPU time submitted per second / cluster_gpus
  double max_duration_s = 604'800;
  std::uint32_t max_burst = 717;
  std::uint64_t seed = 1;
};

/// Same options, same trace. `invalid` if an option is out of range.
[[nodiscard]] Result<Trace> generate_helios_trace(const HeliosGeneratorOptions& options);

}  // namespace starling
