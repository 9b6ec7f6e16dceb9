// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "scheduling/policy.h"

namespace starling {

/// The batch with which a job gets on best on its GPUs, as Pollux (OSDI 2021) has each job choose:
/// of kBatchCandidates batches, from the one that it asked for to the largest that was measured of
/// its model (or that it says itself: RunDetails::batch, max_batch), the one of the highest
/// SpeedModel::pace(). Where it says none the own batch of its model on each GPU is taken for what
/// it asked for; with fewer GPUs than it asks for it may be
/// smaller, as where nothing is decided.
///
/// Jobs without a known noise scale (interference/goodput/profiles.h) and those with parameter
/// servers, which divide one batch, run as they ask.
class BatchChoices {
 public:
  /// Remembered by kind of job and shape of the placement, so of equal ones the first counts.
  [[nodiscard]] Allocation best(const View& view, const JobSpec& job, const Placement& placement);

 private:
  /// Model, GPUs per worker, GPUs that it asks for and has, servers, CPUs, type of the first GPU,
  /// and what the job says of itself.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         double, std::uint16_t, RunDetails>;
  std::map<Key, Allocation> known_;
};

}  // namespace starling
