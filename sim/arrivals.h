// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/run_result.h"

namespace starling {

/// A run while its jobs came, without the tail after the last of them, in which GPUs idle whatever
/// the policy.
struct ArrivalFigures {
  double arrivals_s = 0;       ///< from the first job's coming to the last one's
  double gpu_utilization = 0;  ///< in that time; 0 without a timeline
  /// The tail is more than a third of the run: utilisation over the makespan says more of the trace
  /// than of the cluster.
  bool short_for_its_load = false;
};
[[nodiscard]] ArrivalFigures arrival_figures(const RunResult& run);

}  // namespace starling
