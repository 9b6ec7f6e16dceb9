// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/rng.h"

using namespace starling;

namespace {

constexpr std::uint32_t kRounds = 4, kGpus = 4;

/// The least sum of weight * mean round from job `j` on, over all sets of rounds for each.
double least_cost(const std::vector<CountedRounds>& jobs, std::size_t j,
                  std::vector<std::uint32_t>& used) {
  if (j == jobs.size()) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t set = 0; set < 1U << kRounds; ++set) {
    double sum = 0;
    std::uint32_t count = 0;
    bool fits = true;
    for (std::uint32_t r = 0; r < kRounds; ++r) {
      if ((set >> r & 1U) == 0) continue;
      ++count;
      sum += r;
      fits = fits && used[r] + jobs[j].gpus <= kGpus;
    }
    if (count != jobs[j].count || !fits) continue;
    for (std::uint32_t r = 0; r < kRounds; ++r) used[r] += (set >> r & 1U) * jobs[j].gpus;
    const double own = count > 0 ? jobs[j].weight * sum / count : 0;
    least = std::min(least, own + least_cost(jobs, j + 1, used));
    for (std::uint32_t r = 0; r < kRounds; ++r) used[r] -= (set >> r & 1U) * jobs[j].gpus;
  }
  return least;
}

}  // namespace

TEST_CASE("each job runs as often as it counts, the heaviest first, nearly as far as can be") {
  double all_cost = 0, all_best = 0;
  Rng rng(2);
  for (int k = 0; k < 60; ++k) {
    std::vector<CountedRounds> jobs;
    std::uint32_t room = kRounds * kGpus;
    for (std::uint32_t left = 1 + rng.below(6); left > 0; --left) {
      CountedRounds job{1, rng.below(kRounds + 1), 1.0 + rng.below(20)};
      if (job.count > room) job.count = 0;
      room -= job.count;
      jobs.push_back(job);
    }
    const auto order = order_rounds(jobs, kRounds, kGpus);
    std::vector<std::uint32_t> runs(jobs.size(), 0);
    for (std::uint32_t r = 0; r < kRounds; ++r) {
      CHECK(order[r].size() <= kGpus);
      for (const std::size_t j : order[r]) {
        ++runs[j];
        all_cost += jobs[j].weight * r / jobs[j].count;
      }
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) CHECK(runs[j] == jobs[j].count);
    std::vector<std::uint32_t> used(kRounds, 0);
    all_best += least_cost(jobs, 0, used);
  }
  CHECK(all_cost >= all_best - 1e-6);
  CHECK(all_cost <= all_best * 1.02);
}

TEST_CASE("gangs take no more GPUs than there are, and run no more often than they count") {
  Rng rng(4);
  for (int k = 0; k < 200; ++k) {
    std::vector<CountedRounds> jobs(1 + rng.below(8));
    for (CountedRounds& job : jobs) job = {1U << rng.below(3), rng.below(kRounds + 1), 1e6};
    const auto order = order_rounds(jobs, kRounds, kGpus);
    std::vector<std::uint32_t> runs(jobs.size(), 0);
    for (const auto& round : order) {
      std::uint32_t used = 0;
      for (const std::size_t j : round) {
        used += jobs[j].gpus;
        ++runs[j];
      }
      CHECK(used <= kGpus);
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) CHECK(runs[j] <= jobs[j].count);
  }
}
