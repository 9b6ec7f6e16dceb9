// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_order.h"

#include <algorithm>
#include <limits>

namespace starling {
namespace {

constexpr double kUrgent = 1e9;  // above all sums of weights
constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Candidate {
  std::size_t job;
  std::uint32_t gpus;
  double weight;
};

/// Which of the candidates weigh most that take at least `low` and at most `high` GPUs; if none
/// take so many, then those that take most.
std::vector<std::size_t> heaviest(const std::vector<Candidate>& candidates, std::uint32_t low,
                                  std::uint32_t high) {
  std::vector<double> weight(high + 1, kNever);  // by GPUs that are taken exactly
  weight[0] = 0;
  std::vector<std::vector<bool>> taken;  // by candidate, by GPUs
  for (const Candidate& c : candidates) {
    std::vector<bool>& now = taken.emplace_back(high + 1, false);
    for (std::uint32_t used = high; used >= c.gpus; --used) {
      const double with = weight[used - c.gpus] + c.weight;
      if (with <= weight[used]) continue;
      weight[used] = with;
      now[used] = true;
    }
  }
  while (low > 0 && *std::max_element(weight.begin() + low, weight.end()) == kNever) --low;
  const auto best = std::max_element(weight.begin() + low, weight.end());
  auto used = static_cast<std::uint32_t>(best - weight.begin());
  std::vector<std::size_t> chosen;
  for (std::size_t c = candidates.size(); c-- > 0;) {
    if (!taken[c][used]) continue;
    chosen.push_back(candidates[c].job);
    used -= candidates[c].gpus;
  }
  return chosen;
}

}  // namespace

std::vector<std::vector<std::size_t>> order_rounds(const std::vector<CountedRounds>& jobs,
                                                   std::uint32_t rounds, std::uint32_t gpus) {
  std::vector<std::uint32_t> left;
  std::uint64_t all = 0;  // GPUs times rounds that are left to give
  for (const CountedRounds& job : jobs) {
    left.push_back(job.count);
    all += std::uint64_t{1} * job.count * job.gpus;
  }
  std::vector<std::vector<std::size_t>> order(rounds);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t later = rounds - round - 1;
    std::vector<Candidate> candidates;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (left[j] == 0) continue;
      const double urgent = left[j] > later ? kUrgent : 0;
      candidates.push_back({j, jobs[j].gpus, urgent + jobs[j].weight / jobs[j].count});
    }
    const std::uint64_t room_later = std::uint64_t{1} * later * gpus;
    const std::uint64_t least = all > room_later ? all - room_later : 0;
    std::vector<std::size_t>& chosen = order[round];
    chosen = heaviest(candidates, static_cast<std::uint32_t>(std::min<std::uint64_t>(least, gpus)),
                      gpus);
    std::sort(chosen.begin(), chosen.end());
    for (const std::size_t j : chosen) {
      --left[j];
      all -= jobs[j].gpus;
    }
  }
  return order;
}

}  // namespace starling
