// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "sim/published/shockwave/share_rounds.h"

namespace starling {

/// Themis' finish-time fairness as Shockwave's simulator has it: the largest ratio of a job's
/// expected time from arrival to end to that on its own part of the GPUs is as small as it can be.
/// That leaves GPUs to spare nearly always: the job that is worst off decides alone. The shares
/// are then the analytic centre of the best ones, which is where the barrier method of the solver
/// that they used tends to.
class FinishTimeShares {
 public:
  explicit FinishTimeShares(std::uint32_t gpus) : gpus_(gpus) {}
  TimeShares operator()(const RoundView& view);

 private:
  struct Isolated {
    double done_s = 0;  ///< that the work so far would have taken
    double left = 0;    ///< steps, at the last computation
    double speed = 0;   ///< steps/s on its own part, at the last computation
  };
  std::uint32_t gpus_;
  std::map<std::size_t, Isolated> isolated_;
};

}  // namespace starling
