// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "sim/published/pollux/job.h"

namespace starling {

/// What decides in Pollux' simulated world, anew in each round.
class PolluxScheduler {
 public:
  virtual ~PolluxScheduler() = default;
  /// Before the first round, with all jobs; they outlive it.
  virtual void prepare(std::span<PolluxJob>) {}
  /// The nodes of each of `jobs`, those that were submitted and are not done, in the order of the
  /// workload; an empty list: it waits. No job gets a GPU that another has.
  [[nodiscard]] virtual std::vector<NodeList> decide(std::int64_t now_s,
                                                     std::span<const PolluxJob* const> jobs) = 0;
};

/// The cluster of the paper's simulations.
struct PolluxCluster {
  std::uint32_t nodes = 16, gpus_per_node = 4;
  std::int64_t interval_s = 60;
  double interference = 0;  ///< progress that gangs on several nodes lose beside another such one
};

/// Runs the workload until all of it is done: in each round first all jobs advance, then the
/// scheduler decides. Seconds from submission to completion, by row of the workload. `rounds` is
/// called after each with the number of jobs that are done.
[[nodiscard]] std::vector<std::int64_t> run_pollux_cluster(
    const PolluxCluster& cluster, std::vector<PolluxJob> jobs, PolluxScheduler& scheduler,
    const std::function<void(std::size_t done)>& rounds = {});

/// The jobs of a workload file. `applications` must outlive them. `invalid` names a row that has no
/// sense there.
[[nodiscard]] Result<std::vector<PolluxJob>> read_pollux_workload(
    const std::filesystem::path& file,
    const std::map<std::string, PolluxApplication>& applications);

}  // namespace starling
