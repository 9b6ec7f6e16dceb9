// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "workload/job.h"

namespace starling {

/// What the page of a trace draws: small, whatever the trace's size.
struct TraceCurves {
  struct Class {
    std::string name;  ///< "all", "1 GPU", "2 to 4 GPUs", ...
    std::uint64_t jobs = 0;
    std::vector<std::pair<double, double>> duration;  ///< (s, share of its jobs no longer)
  };
  std::vector<Class> durations;  ///< all jobs first; classes without jobs are left out

  struct Share {
    std::string name;
    std::uint64_t jobs = 0;
    double gpu_hours = 0;
  };
  std::vector<Share> gangs;  ///< by number of GPUs, or by powers of two where there are many
  /// By GPU hours, the largest first; beyond kSharesMax the rest as one. Without names: empty.
  std::vector<Share> users, queues, models;

  double bin_s = 0;                   ///< a round length of time
  std::vector<double> jobs_per_hour;  ///< by bin, from the first submission to the last
  /// GPUs that would be at work if no job had to wait, by bin: what the users ask for.
  std::vector<double> demand_gpus;

  static constexpr std::size_t kSharesMax = 15;
};
[[nodiscard]] TraceCurves trace_curves(const Trace& trace, std::size_t bins = 300);

/// One self-contained page about a trace that has jobs. `gpus` above 0: of the cluster that it is
/// held against.
[[nodiscard]] std::string workload_page(const Trace& trace, std::uint32_t gpus);

}  // namespace starling
