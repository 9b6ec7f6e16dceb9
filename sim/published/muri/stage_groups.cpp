// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/stage_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {
namespace {

constexpr std::size_t kTurns = 4;

/// A cycle of turns in this order, once they repeat. In each turn one job exchanges, the next one
/// computes, and the one after ends preparing what it began to read a turn before.
double cycle_s(std::span<const StageKind* const> order) {
  constexpr double kRepeats = 1e-3;
  constexpr std::size_t kMost = 2 * kTurns;
  std::array<double, kMost + 1> end{};
  for (std::size_t i = 0; i < kMost; ++i) {
    const auto stage = [&](std::size_t ahead, std::size_t which, double begin) {
      const std::size_t job = (i + ahead) % kTurns;
      if (job < order.size())
        end[i + 1] = std::max(end[i + 1], begin + order[job]->stages_s[which]);
    };
    stage(1, 2, end[i]);
    stage(2, 1, end[i]);
    if (i > 0) stage(3, 0, end[i - 1]);
    if (i < kTurns) continue;
    const double now = end[i + 1] - end[i + 1 - kTurns], before = end[i] - end[i - kTurns];
    if (std::abs(now - before) <= kRepeats * std::max(std::abs(now), std::abs(before))) return now;
  }
  return end[kMost] - end[kMost - kTurns];
}

}  // namespace

std::uint32_t StageGroups::kind_of(const StageKind& kind) {
  const auto [at, fresh] = numbers_.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
  if (fresh) kinds_.push_back(kind);
  return at->second;
}

double StageGroups::turns_s(std::span<const std::uint32_t> kinds, StageOrder order) const {
  const bool best = order == StageOrder::best;
  double found = best ? std::numeric_limits<double>::infinity() : 0;
  const auto take = [&](double cycle) {
    found = best ? std::min(found, cycle) : std::max(found, cycle);
  };
  std::vector<std::uint32_t> in_turn(kinds.begin(), kinds.end());
  std::sort(in_turn.begin(), in_turn.end());
  do {
    std::vector<const StageKind*> jobs;
    jobs.reserve(in_turn.size());
    for (const std::uint32_t kind : in_turn) jobs.push_back(&kinds_[kind]);
    take(cycle_s(jobs));
  } while (std::next_permutation(in_turn.begin(), in_turn.end()));
  if (kinds.size() == 2) {
    // Two may also be opposite each other: one loads while the other does all else.
    const auto& a = kinds_[kinds[0]].stages_s;
    const auto& b = kinds_[kinds[1]].stages_s;
    take(std::max(a[0], b[1] + b[2]) + std::max(b[0], a[1] + a[2]));
  }
  return found;
}

double StageGroups::iteration_s(std::span<const std::uint32_t> kinds, StageOrder order) {
  if (kinds.size() == 1) return kinds_[kinds[0]].iteration_s;
  std::array<std::uint32_t, kMostInGroup + 1> key;
  key.fill(std::numeric_limits<std::uint32_t>::max());
  std::copy(kinds.begin(), kinds.end(), key.begin());
  std::sort(key.begin(), key.end() - 1);
  key.back() = static_cast<std::uint32_t>(order);
  const auto [at, fresh] = known_.try_emplace(key, 0);
  if (fresh) at->second = turns_s(kinds, order) * extra_[kinds.size() - 2];
  return at->second;
}

double StageGroups::used(std::span<const std::uint32_t> kinds, StageOrder order) {
  double busy_s = 0;
  for (const std::uint32_t kind : kinds) {
    double job_s = 0;
    for (const double stage : kinds_[kind].stages_s) job_s += stage;
    busy_s += job_s;
  }
  return busy_s / (iteration_s(kinds, order) * kTurns);
}

}  // namespace starling
