// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "policies/pollux/share_search.h"

namespace starling {

/// What makes new plans of old ones. Keeps scratch memory between calls.
class ShareOperators {
 public:
  /// Both must outlive it.
  ShareOperators(const SharingProblem& problem, const ShareSearchOptions& options);

  /// Two children: the first jobs of one, up to a random one, and the others of the other.
  [[nodiscard]] static std::pair<SharePlan, SharePlan> cross(const SharePlan& a, const SharePlan& b,
                                                             Rng& rng);
  /// Each row with chance 0.1 is what runs again; each with chance 0.1 loses a tenth of its nodes;
  /// then each job gets more, on average, on one of the nodes with a free GPU and on one of those
  /// of these that it is on: any number up to what the node could hold.
  void mutate(SharePlan& plan, Rng& rng);
  /// Makes it a plan that can be, in the order of the jobs: no node with two jobs that are on
  /// several; no job above its most, or on more than most_nodes nodes; no node with more GPUs, CPUs
  /// and memory than it has. A job that thus, or by chance, has fewer than its least gets the rest
  /// where there is room, which is beyond the paper, whose jobs can all run alone, or nothing.
  void repair(SharePlan& plan, Rng& rng);

 private:
  using Row = std::vector<NodeShare>;
  [[nodiscard]] std::vector<std::int64_t> left_by(const SharePlan& plan) const;
  void add_replicas(std::size_t job, Row& row, const std::vector<std::uint32_t>& open, Rng& rng);
  void thin(std::size_t job, Row& row, Rng& rng) const;
  void complete(std::size_t job, Row& row);
  [[nodiscard]] std::uint32_t room(std::size_t job, std::uint32_t node) const;
  /// The job has so many replicas more of what is left of the node, or fewer.
  void take(std::size_t job, std::uint32_t node, std::int64_t replicas);

  const SharingProblem& problem_;
  const ShareSearchOptions& options_;
  SharePlan next_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> counts_;  // of one job by node; zeros between calls
  std::vector<std::int64_t> left_;     // GPUs by node
  std::vector<Demand> means_;          // left by node; empty: any amount
  std::vector<bool> spanned_;          // nodes with a job that is on several
};

}  // namespace starling
