// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/elastic/known_allocations.h"

namespace starling {

/// The batch with which a job gets on best on its GPUs, as Pollux (OSDI 2021) has each job choose:
/// of kBatchCandidates batches, from the one that it asked for to the largest that was measured of
/// its model (or that it says itself: RunDetails::batch, max_batch), the one of the highest
/// SpeedModel::pace(). Where it says none the own batch of its model on each GPU is taken for what
/// it asked for; with fewer GPUs than it asks for it may be smaller, as where nothing is decided.
///
/// Jobs without a known noise scale (interference/goodput/profiles.h) and those with parameter
/// servers, which divide one batch, run as they ask.
class BatchChoices {
 public:
  /// Remembered (KnownAllocations).
  [[nodiscard]] Allocation best(const View& view, const JobSpec& job, const Placement& placement);

 private:
  KnownAllocations known_;
};

}  // namespace starling
