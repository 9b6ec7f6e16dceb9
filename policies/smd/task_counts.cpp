// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/task_counts.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace starling {
namespace {

constexpr double kSlack = 1e-9;

/// From `first` to `last`, each the largest that is at most 1 + eps times the number that it stands
/// for, which is the one after the last one that the one before it stands for.
std::vector<std::uint32_t> grid(std::uint32_t first, std::uint32_t last, double eps) {
  std::vector<std::uint32_t> out;
  for (std::uint64_t at = first; at <= last;) {
    out.push_back(static_cast<std::uint32_t>(at));
    at = static_cast<std::uint64_t>(std::floor(static_cast<double>(at) * (1 + eps) + kSlack)) + 1;
  }
  return out;
}

std::vector<std::uint32_t> all(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t at = first; at <= last; ++at) out.push_back(at);
  return out;
}

std::optional<TaskCounts> shortest(const LayeredSteps& steps, const TaskLimits& limits,
                                   const std::vector<std::uint32_t>& workers,
                                   const std::vector<std::uint32_t>& servers) {
  std::optional<TaskCounts> best;
  double least = 0;
  for (const std::uint32_t w : workers) {
    for (const std::uint32_t p : servers) {
      const TaskCounts tasks{w, p};
      if (!limits.allow(tasks)) break;
      const double s = step_s(steps, limits, tasks);
      if (best && s >= least) continue;
      best = tasks;
      least = s;
    }
  }
  return best;
}

}  // namespace

double TaskLimits::gpus_of(TaskCounts tasks) const noexcept {
  return static_cast<double>(tasks.workers) * gpus_per_worker;
}

double TaskLimits::cpus_of(TaskCounts tasks) const noexcept {
  return tasks.workers * cpus_per_worker + tasks.servers * cpus_per_server;
}

bool TaskLimits::allow(TaskCounts tasks) const noexcept {
  return gpus_of(tasks) <= gpus + kSlack && cpus_of(tasks) <= cpus + kSlack;
}

double step_s(const LayeredSteps& steps, const TaskLimits& limits, TaskCounts tasks) {
  return steps.step_s(limits.gpus_of(tasks), tasks.servers);
}

std::optional<TaskCounts> best_tasks(const LayeredSteps& steps, const TaskLimits& limits) {
  return shortest(steps, limits, all(limits.least, limits.most), all(1, limits.most_servers));
}

std::optional<TaskCounts> best_tasks_on_grid(const LayeredSteps& steps, const TaskLimits& limits,
                                             double eps) {
  return shortest(steps, limits, grid(limits.least, limits.most, eps),
                  grid(1, limits.most_servers, eps));
}

std::vector<TaskCounts> task_menu(const LayeredSteps& steps, const TaskLimits& limits, double eps,
                                  std::size_t most) {
  struct Point {
    double gpus, cpus, s;
    TaskCounts tasks;
  };
  std::vector<Point> points;
  for (const std::uint32_t w : grid(limits.least, limits.most, eps)) {
    for (const std::uint32_t p : grid(1, limits.most_servers, eps)) {
      const TaskCounts tasks{w, p};
      if (!limits.allow(tasks)) break;
      points.push_back(
          {limits.gpus_of(tasks), limits.cpus_of(tasks), step_s(steps, limits, tasks), tasks});
    }
  }
  std::ranges::stable_sort(points, [](const Point& a, const Point& b) {
    return std::tie(a.gpus, a.cpus, a.s) < std::tie(b.gpus, b.cpus, b.s);
  });
  std::vector<Point> kept;
  for (const Point& p : points) {
    const bool beaten = std::ranges::any_of(
        kept, [&](const Point& k) { return k.cpus <= p.cpus + kSlack && k.s <= p.s; });
    if (!beaten) kept.push_back(p);
  }
  std::vector<TaskCounts> out;
  const std::size_t some = std::min(most, kept.size());
  for (std::size_t i = 0; i < some; ++i) {
    const std::size_t at = some < 2 ? kept.size() - 1 : i * (kept.size() - 1) / (some - 1);
    out.push_back(kept[at].tasks);
  }
  return out;
}

}  // namespace starling
