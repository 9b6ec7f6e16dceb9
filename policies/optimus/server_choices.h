// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/elastic/known_allocations.h"

namespace starling {

/// The number of parameter servers with which a job gets on best on its GPUs: of 1 to
/// RunDetails::max_servers the smallest one of the highest SpeedModel::pace(). Optimus (EuroSys
/// 2018) adds them one by one beside workers; here the workers are given, for GPUs are what is
/// scarce, and servers stop to pay where they leave the workers too few CPUs.
///
/// Jobs that do not train by parameter servers, or do not say how many at most, run as they ask.
class ServerChoices {
 public:
  /// Remembered (KnownAllocations).
  [[nodiscard]] Allocation best(const View& view, const JobSpec& job, const Placement& placement);

 private:
  KnownAllocations known_;
};

}  // namespace starling
