// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workload/job.h"

namespace starling {

/// Of a sample: quantiles by nearest rank, and the mean. Zeros for an empty one.
struct Quantiles {
  double min = 0, p5 = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0, mean = 0;
};
[[nodiscard]] Quantiles quantiles(std::vector<double> sample);

/// What `starling workload show` tells of a trace.
struct TraceSummary {
  std::uint64_t jobs = 0;
  std::uint64_t dropped = 0;
  double gpu_hours = 0;        ///< sum of gpus x duration
  double span_s = 0;           ///< first to last submission
  double interarrival_cv = 0;  ///< standard deviation / mean; 1 if Poisson
  Quantiles gpus;              ///< per job
  Quantiles duration_s;
  std::map<std::uint32_t, std::uint64_t> gangs;  ///< jobs by number of GPUs
  std::map<std::string, std::uint64_t> models;   ///< jobs by model, "" unknown
};
[[nodiscard]] TraceSummary summarize(const Trace& trace);

/// GPU time submitted per second of span, over the GPUs of a cluster; 0 where the span is 0.
[[nodiscard]] double offered_load(const TraceSummary& summary, std::uint32_t cluster_gpus);

}  // namespace starling
