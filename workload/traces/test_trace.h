// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "workload/catalogue.h"
#include "workload/job.h"

namespace starling {

struct TestTraceOptions {
  std::uint64_t jobs = 100, seed = 1;
  double gap_s = 100;                   ///< mean time between arrivals
  double least_s = 100, more_s = 1000;  ///< duration: the least, and the mean of what is more
};

/// For tests: jobs of Gavel's types with 1, 2 or 4 workers of a GPU, at random times.
inline Trace test_trace(const TestTraceOptions& options) {
  const auto models = gavel_models();
  Trace trace;
  Rng rng(options.seed);
  Duration at{0};
  for (std::uint64_t i = 0; i < options.jobs; ++i) {
    at += from_seconds(options.gap_s * rng.exponential());
    TraceJob job;
    job.submit = at;
    job.spec.id = {7, i};
    job.spec.workers = 1U << rng.below(3);
    job.spec.duration = from_seconds(options.least_s + options.more_s * rng.exponential());
    job.spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

}  // namespace starling
