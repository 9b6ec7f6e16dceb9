// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/ids.h"
#include "gnn/search/rollout_start.h"
#include "policies/foresight.h"
#include "policies/placement/decision_point.h"
#include "workload/job.h"

namespace starling {

/// What a View does not say, from the trace that is being played: for labels in training, and for
/// upper bounds. Of one agent that owns everything.
class TrueFuture {
 public:
  /// The trace outlives this. How much a running job has done is what the agents' model of speed
  /// says.
  explicit TrueFuture(const Trace& trace);
  /// It is what the oracle says, which outlives this.
  explicit TrueFuture(const Oracle& oracle) : TrueFuture(oracle.trace()) { oracle_ = &oracle; }
  /// At the instant of the decision, with the next `arrivals` jobs, which show no duration.
  [[nodiscard]] RolloutFuture at(const DecisionPoint& point, std::size_t arrivals) const;

 private:
  const Trace& trace_;
  std::unordered_map<JobId, double> work_s_;
  const Oracle* oracle_ = nullptr;
};

}  // namespace starling
