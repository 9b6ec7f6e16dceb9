// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace starling {

/// How a job runs on its GPUs, beside where (Placement). Plain data; a 0 means as the job asks, so
/// Allocation{} is a job that runs as it asks.
struct Allocation {
  /// That compute local_batch each: those that the GPUs make, gpus / JobSpec::gpus_per_worker.
  /// Alone it is the size of a gang over partitions that is to be (scheduling/policy.h), or says
  /// nothing.
  std::uint32_t workers = 0;
  std::uint32_t servers = 0;       ///< parameter servers
  std::uint32_t local_batch = 0;   ///< samples that a worker computes at a time
  std::uint32_t accumulation = 0;  ///< further gradients that are added up before each exchange
  /// The workers of each server train a copy of the model by themselves; copies are averaged from
  /// time to time.
  bool averaged = false;

  static constexpr std::uint32_t kMost = 10'000'000;  ///< of each number

  [[nodiscard]] bool as_asked() const noexcept { return *this == Allocation{}; }
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// For people: "4 workers, 2 parameter servers, batches of 64 a worker, 1 further gradient";
/// empty where it runs as it asks.
[[nodiscard]] std::string allocation_text(const Allocation& how);

}  // namespace starling
