// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "interference/goodput/goodput.h"

namespace starling {

/// What is known of one job's goodput: progress per second with any number of GPUs on any number of
/// servers, by the batch that suits these best (Pollux, OSDI 2021, section 3). Its unit is the
/// job's own.
struct JobGoodput {
  StepTime time;
  double phi = 0;  ///< noise scale; 0: not measured
  BatchLimits limits;
  double own_local = 0;      ///< of each GPU, whatever their number; 0: the batch is adapted
  std::uint32_t rack = ~0U;  ///< servers of the largest one: a job on more leaves it

  /// On so many, each at least 1. Goodput 0: there is no batch for so many GPUs.
  [[nodiscard]] BatchChoice at(std::uint32_t servers, std::uint32_t gpus) const noexcept;
  /// With that split.
  [[nodiscard]] double with(std::uint32_t servers, std::uint32_t gpus,
                            const BatchSplit& split) const noexcept;
  /// GPUs among which its batch can be divided.
  [[nodiscard]] std::uint32_t most_gpus() const noexcept;

 private:
  [[nodiscard]] StepShape shape(std::uint32_t servers, std::uint32_t gpus) const noexcept;
};

/// Replicas of which every one of `jobs` could have as many: what its speedup is reckoned from. As
/// in the paper's code rounded up, and on one server whatever their number.
[[nodiscard]] std::uint32_t fair_replicas(std::uint32_t gpus, std::uint32_t gpus_per_replica,
                                          std::size_t jobs) noexcept;

}  // namespace starling
