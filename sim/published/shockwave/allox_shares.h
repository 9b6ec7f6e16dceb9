// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/published/shockwave/share_rounds.h"

namespace starling {

/// AlloX as Shockwave's simulator has it: jobs without a GPU are assigned to the GPUs without a job
/// and to a place in the queue of each, so that the sum of completion times is least; the first of
/// each queue then has that GPU until it is over. The oldest fifth of the jobs is considered, or as
/// many as there are GPUs. A gang of n counts as one GPU here and gets 1/n of its time, so it is
/// assigned again and again.
class AlloxShares {
 public:
  explicit AlloxShares(std::uint32_t gpus) : gpus_(gpus) {}
  TimeShares operator()(const RoundView& view);

 private:
  std::uint32_t gpus_;
  TimeShares before_;
};

}  // namespace starling
