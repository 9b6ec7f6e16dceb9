// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/share_goals.h"

#include <algorithm>
#include <utility>

namespace starling {
namespace {

constexpr double kWaiting = 1e-3;

}  // namespace

ShareGoals::ShareGoals(const SharingProblem& problem)
    : problem_(problem), known_(problem.jobs.size()), used_(problem.node_gpus.size(), 0) {
  const auto nodes = static_cast<double>(problem.node_gpus.size());
  const std::uint32_t gpus = std::max(problem.gpus(), 1U);
  for (const SharingJob& job : problem.jobs) {
    most_.push_back(std::min(job.most, gpus / job.gpus_per_replica));
    weight_.push_back(job.gpus_per_replica * nodes / gpus);
  }
}

double ShareGoals::speedup(std::size_t job, std::span<const NodeShare> shares) {
  if (shares.empty()) return 0;
  const std::size_t nodes = shares.size();
  const std::uint32_t replicas = replicas_of(shares);
  auto& known = known_[job];
  if (known.size() <= nodes) known.resize(nodes + 1);
  if (known[nodes].empty()) known[nodes].assign(most_[job] + 1, -1.0);
  double& value = known[nodes][replicas];
  if (value < 0)
    value = std::max(problem_.speedup(job, static_cast<std::uint32_t>(nodes), replicas), 0.0);
  return value;
}

TwoGoals ShareGoals::of(const SharePlan& plan) {
  ++calls_;
  double inverse = 0, all = 0, gpus = 0;
  for (std::size_t job = 0; job < plan.jobs(); ++job) {
    const auto row = plan.of(job);
    const double found = speedup(job, row);
    const bool restarts = !std::ranges::equal(row, problem_.now.of(job));
    const double scaled = found * weight_[job] * (restarts ? problem_.jobs[job].restart_factor : 1);
    inverse += 1 / (scaled + kWaiting);
    all += found;
    for (const NodeShare& share : row) {
      if (std::exchange(used_[share.node], calls_) != calls_)
        gpus += problem_.node_gpus[share.node];
    }
  }
  if (plan.jobs() == 0) return {0, 0};
  return {static_cast<double>(plan.jobs()) / inverse, gpus > 0 ? all / gpus : 0};
}

}  // namespace starling
