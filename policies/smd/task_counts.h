// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/parts/tasks.h"
#include "policies/smd/layered_steps.h"

namespace starling {

/// Between what the counts of one job are chosen: SMD's inner problem. Whole numbers, `least` to
/// `most` workers and 1 to `most_servers` servers, of which gpus and cpus stay within the limit.
struct TaskLimits {
  std::uint32_t least = 1, most = 1, most_servers = 1;
  std::uint32_t gpus_per_worker = 1;
  double cpus_per_worker = 0, cpus_per_server = 0;
  double gpus = 0, cpus = 0;  ///< the limit

  [[nodiscard]] double gpus_of(TaskCounts tasks) const noexcept;
  [[nodiscard]] double cpus_of(TaskCounts tasks) const noexcept;
  [[nodiscard]] bool allow(TaskCounts tasks) const noexcept;
};
/// Seconds of a step of such a job; of LayeredSteps a worker is its GPUs.
[[nodiscard]] double step_s(const LayeredSteps& steps, const TaskLimits& limits, TaskCounts tasks);

/// The counts within the limits of the shortest step: all of them are looked at. Of equal ones the
/// fewest workers, then the fewest servers. Nothing: none is within.
[[nodiscard]] std::optional<TaskCounts> best_tasks(const LayeredSteps& steps,
                                                   const TaskLimits& limits);
/// Counts within the limits whose step is at most 1 + eps times the shortest, of O(log^2(n) /
/// eps^2) that are looked at: whole numbers each of which is at most 1 + eps times the one before
/// it, or follows it. Rounded down to these, the best counts need no more, M/w and w/p grow by 1 +
/// eps at most, and what grows with w and p does not grow. eps above 0.
[[nodiscard]] std::optional<TaskCounts> best_tasks_on_grid(const LayeredSteps& steps,
                                                           const TaskLimits& limits, double eps);

/// Of the counts of that grid within the limits those that no other beats in GPUs, CPUs and time at
/// once, by GPUs, then CPUs; where they are more than `most`, evenly chosen ones, the first and the
/// last among them.
[[nodiscard]] std::vector<TaskCounts> task_menu(const LayeredSteps& steps, const TaskLimits& limits,
                                                double eps, std::size_t most);

}  // namespace starling
