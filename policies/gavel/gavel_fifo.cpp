// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "policies/gavel/gavel_allocation.h"

namespace starling {
namespace {

GavelAllocation nothing(const GavelProblem& problem) {
  return GavelAllocation(problem.rows.size(), std::vector<double>(problem.gpus.size(), 0.0));
}

}  // namespace

GavelAllocation fifo_aware(const GavelProblem& problem) {
  GavelAllocation out = nothing(problem);
  std::vector<std::uint32_t> left = problem.gpus;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const GavelProblem::Row& row = problem.rows[i];
    std::size_t best = left.size();
    bool room = false;
    for (std::size_t t = 0; t < left.size(); ++t) {
      if (row.gpus > left[t]) continue;
      room = true;
      if (row.speed[t] > 0 && (best == left.size() || row.speed[t] > row.speed[best])) best = t;
    }
    if (!room && row.gpus <= *std::max_element(problem.gpus.begin(), problem.gpus.end())) break;
    if (best == left.size()) continue;
    out[i][best] = 1;
    left[best] -= row.gpus;
  }
  return out;
}

GavelAllocation GavelFifo::allocate(const GavelProblem& problem, const Pick& pick) {
  std::vector<std::uint32_t> left = problem.gpus;
  std::map<JobId, std::size_t> held;
  for (const GavelProblem::Row& row : problem.rows) {
    const auto kept = held_.find(row.job);
    if (kept == held_.end() || row.gpus > left[kept->second]) continue;
    held.insert(*kept);
    left[kept->second] -= row.gpus;
  }
  for (const GavelProblem::Row& row : problem.rows) {
    if (held.contains(row.job)) continue;
    std::vector<std::size_t> room;
    bool ever = false;
    for (std::size_t t = 0; t < left.size(); ++t) {
      if (row.speed[t] <= 0 || row.gpus > problem.gpus[t]) continue;
      ever = true;
      if (left[t] >= row.gpus) room.push_back(t);
    }
    if (!ever) continue;
    if (room.empty()) break;
    const std::size_t type = room[pick(static_cast<std::uint32_t>(room.size()))];
    held.emplace(row.job, type);
    left[type] -= row.gpus;
  }
  held_ = std::move(held);
  GavelAllocation out = nothing(problem);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto found = held_.find(problem.rows[i].job);
    if (found != held_.end()) out[i][found->second] = 1;
  }
  return out;
}

}  // namespace starling
