// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace starling {

/// A job that runs in `count` of the rounds that are planned.
struct CountedRounds {
  std::uint32_t gpus = 1;
  std::uint32_t count = 0;
  double weight = 1;
};

/// What runs in each round: by round the jobs' indices, rising. No more GPUs are taken than there
/// are, and no job runs in more rounds than it counts. Round by round those run that weigh most in
/// sum, a job's weight / count each; before them those that need all rounds that are left, and
/// among equal sets one that takes what later rounds have no room for. So the sum of weight * mean
/// round is small, if not always the smallest, and each job runs in as many rounds as it counts
/// where that is easy: where there is room, and gangs are small beside it. It may be fewer
/// elsewhere.
[[nodiscard]] std::vector<std::vector<std::size_t>> order_rounds(
    const std::vector<CountedRounds>& jobs, std::uint32_t rounds, std::uint32_t gpus);

}  // namespace starling
