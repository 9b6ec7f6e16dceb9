// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// The synthetic workloads of Gavel (OSDI 2020): one of 26 job types, evenly; alone on V100s it
/// takes 10^x minutes, x uniform in [1.5, 3] for 80 % of the jobs and in [3, 4] for the others.
struct GavelGeneratorOptions {
  std::uint32_t jobs = 1000;
  double jobs_per_hour = 5.6;  ///< Poisson arrivals ("continuous"); 0: all at the start ("static")
  bool multi_gpu = true;  ///< 70, 10, 15, 5 % of the jobs on 1, 2, 4, 8 GPUs; false: all on one
  std::uint64_t seed = 1;
};

/// Same options, same trace. Jobs on several GPUs are of types that Gavel ran on several. `invalid`
/// if an option is out of range.
[[nodiscard]] Result<Trace> generate_gavel_trace(const GavelGeneratorOptions& options);

}  // namespace starling
