// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "policies/pollux/pareto.h"
#include "policies/pollux/share_search.h"

namespace starling {

/// What a plan is worth. Remembers speedups.
class ShareGoals {
 public:
  /// It must outlive this.
  explicit ShareGoals(const SharingProblem& problem);

  /// The power mean, with p = -1, of the jobs' speedups in units of which one is a node's dominant
  /// share, times restart_factor where a row is not what runs; a thousandth more each, so that
  /// waiting is dear and not infinitely so. And the speedups' sum over the GPUs of nodes that
  /// a job is on, which only keeps the search diverse.
  [[nodiscard]] TwoGoals of(const SharePlan& plan);
  /// Of a job by its row; 0: it waits.
  [[nodiscard]] double speedup(std::size_t job, std::span<const NodeShare> shares);

 private:
  using ByReplicas = std::vector<double>;  // negative: not asked yet; empty: no one was
  const SharingProblem& problem_;
  std::vector<std::uint32_t> most_;             // replicas, by job
  std::vector<std::vector<ByReplicas>> known_;  // by job and nodes
  std::vector<double> weight_;                  // of a job's speedup
  std::vector<std::uint32_t> used_;
  std::uint32_t calls_ = 0;
};

}  // namespace starling
