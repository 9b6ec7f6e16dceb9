// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// Jobs as DL2 (arXiv 1909.06040, section 6) had them on its testbed: of its eight models, by
/// parameter servers. A worker is a GPU and 2 CPUs, a server 2 CPUs; up to 16 of each.
///
/// Its arrivals and lengths are of a trace that was not published. Of lengths the paper says a mean
/// of 147 minutes, and that over half of the jobs took more than an hour: they are drawn log-normal
/// with that mean and a median of 65 minutes, within ten minutes and a day, and are those of two
/// workers with two servers on a server of their own. Arrivals are Poisson. Both are ours.
struct Dl2GeneratorOptions {
  std::uint32_t jobs = 30;
  double jobs_per_hour = 5;
  std::uint64_t seed = 1;
};

/// Same options, same trace. `invalid` if an option is out of range.
[[nodiscard]] Result<Trace> generate_dl2_trace(const Dl2GeneratorOptions& options);

}  // namespace starling
