// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace starling {

/// How a job runs on its GPUs, beside where (Placement). Plain data; a 0 means as the job asks, so
/// Allocation{} is every job of today.
struct Allocation {
  std::uint32_t workers = 0;       ///< that compute local_batch each; alone it changes nothing
  std::uint32_t servers = 0;       ///< parameter servers
  std::uint32_t local_batch = 0;   ///< samples that a worker computes at a time
  std::uint32_t accumulation = 0;  ///< further gradients that are added up before each exchange
  /// The workers of each server train a copy of the model by themselves; copies are averaged from
  /// time to time.
  bool averaged = false;

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

}  // namespace starling
