// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "policies/pollux/share_plan.h"
#include "topology/demand.h"

namespace starling {

/// A job among which a round's GPUs are divided.
struct SharingJob {
  std::uint32_t gpus_per_replica = 1;
  std::uint32_t least = 0, most = 1;  ///< replicas; fewer than `least` are none
  /// What is left of its speedup where its row changes, in [0, 1].
  double restart_factor = 1;
  /// Which of SharingProblem::most_on_of is its own; nothing: a node's GPUs are all that limits it.
  std::optional<std::size_t> kind = std::nullopt;
  Demand each = {};  ///< CPUs and memory that it takes of a node with each GPU
};

/// What is to be divided. Jobs are in the order in which a repair spares them.
struct SharingProblem {
  std::vector<std::uint32_t> node_gpus;
  /// CPUs and memory that all jobs on a node have together, by node; empty: any amount.
  std::vector<Demand> node_means = {};
  /// Replicas that a node can hold of a job of a kind when no other is on it, by node.
  std::vector<std::vector<std::uint32_t>> most_on_of = {};
  std::vector<SharingJob> jobs;
  SharePlan now;
  /// Of a job on so many nodes with so many replicas, both above 0, over what it has with its fair
  /// share; at least 0. Asked once for each.
  std::function<double(std::size_t job, std::uint32_t nodes, std::uint32_t replicas)> speedup;

  [[nodiscard]] std::uint32_t gpus() const noexcept;
  [[nodiscard]] std::uint32_t most_on(std::size_t job, std::uint32_t node) const noexcept {
    const SharingJob& one = jobs[job];
    return one.kind ? most_on_of[*one.kind][node] : node_gpus[node] / one.gpus_per_replica;
  }
};

struct ShareSearchOptions {
  std::uint32_t population = 100, generations = 100;  ///< as published
  /// Ends when so many generations have brought no better plan; 0: never, as published.
  std::uint32_t patience = 0;
  std::uint32_t most_nodes = 16;  ///< of a job
  /// At most one job that is on several nodes is on each node (interference avoidance).
  bool avoid_interference = true;
};

struct ShareSearchAnswer {
  SharePlan best;
  double fitness = 0;            ///< of it
  std::vector<SharePlan> front;  ///< plans of which none is better in both objectives
  std::uint64_t evaluated = 0;   ///< plans
};

/// Pollux' division of a cluster (OSDI 2021, section 4.2): of all plans that can be one of the
/// highest power mean, with p = -1, of speedups that restarts diminish, found by the genetic search
/// of its code: NSGA-II with that and the speedup per GPU used as objectives; binary tournaments;
/// children take their first jobs from one parent and the others from the other one; mutation sets
/// rows back to what runs, clears, and adds where GPUs are free; a repair (share_operators.h) makes
/// each a plan that can be. Begins with what runs and with `warm`, plans of the same jobs that need
/// not be possible any more. Time goes with population * generations * jobs. Deterministic for one
/// state of `rng`.
[[nodiscard]] ShareSearchAnswer search_shares(const SharingProblem& problem,
                                              const std::vector<SharePlan>& warm,
                                              const ShareSearchOptions& options, Rng& rng);

}  // namespace starling
