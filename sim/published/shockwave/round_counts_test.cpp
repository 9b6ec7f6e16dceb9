// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_counts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

using namespace starling;

namespace {

constexpr std::uint32_t kMost = 3;

RoundWorth any_job(Rng& rng) {
  RoundWorth job;
  job.gpus = 1U << rng.below(3);
  job.least = rng.below(3) == 0 ? 1 : 0;
  double worth = 0, left = 10.0 * (1 + rng.below(9)), more = 1 + rng.uniform();
  for (std::uint32_t c = 0; c <= kMost; ++c) {
    job.worth.push_back(worth);
    job.left_s.push_back(left);
    worth += more *= rng.uniform();
    left = std::max(0.0, left - 30);
  }
  return job;
}

double value(const std::vector<RoundWorth>& jobs, const std::vector<std::uint32_t>& counts,
             double per_second) {
  double sum = 0, longest = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    sum += jobs[j].worth[counts[j]];
    longest = std::max(longest, jobs[j].left_s[counts[j]]);
  }
  return sum - per_second * longest;
}

bool fits(const std::vector<RoundWorth>& jobs, const std::vector<std::uint32_t>& counts,
          std::uint32_t room) {
  std::uint32_t used = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (counts[j] < jobs[j].least) return false;
    used += counts[j] * jobs[j].gpus;
  }
  return used <= room;
}

/// Over all numbers of rounds; -infinity where none fit.
double best_value(const std::vector<RoundWorth>& jobs, std::uint32_t room, double per_second) {
  std::vector<std::uint32_t> counts(jobs.size(), 0);
  double best = -INFINITY;
  while (true) {
    if (fits(jobs, counts, room)) best = std::max(best, value(jobs, counts, per_second));
    std::size_t j = 0;
    while (j < counts.size() && counts[j] == kMost) counts[j++] = 0;
    if (j == counts.size()) return best;
    ++counts[j];
  }
}

}  // namespace

TEST_CASE("no numbers of rounds are worth more") {
  Rng rng(11);
  for (int k = 0; k < 300; ++k) {
    std::vector<RoundWorth> jobs(1 + rng.below(5));
    for (RoundWorth& job : jobs) job = any_job(rng);
    const std::uint32_t room = rng.below(30);
    const double per_second = rng.below(2) == 0 ? 0.001 : 0.05;
    const double best = best_value(jobs, room, per_second);
    const auto counts = best_round_counts(jobs, room, per_second);
    REQUIRE(counts.has_value() == (best > -INFINITY));
    if (!counts) continue;
    CHECK(fits(jobs, *counts, room));
    CHECK(value(jobs, *counts, per_second) == doctest::Approx(best));
  }
}

TEST_CASE("no jobs have no rounds") { CHECK(best_round_counts({}, 10, 1)->empty()); }
