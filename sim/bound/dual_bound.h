// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policies/rank/rank_rule.h"

namespace starling {

/// A job as the bound sees it.
struct BoundJob {
  double submit_s = 0;
  double work_s = 0;       ///< in time at the size asked for, alone on its best place
  double least_gpu_s = 1;  ///< as RankJob
  std::vector<std::vector<RankSize>> sizes;  ///< by GPU type, ascending; speeds in its empty place
};

/// All that comes, known beforehand, and what there is for it.
struct BoundProblem {
  std::vector<BoundJob> jobs;       ///< by submission
  std::vector<std::uint32_t> gpus;  ///< by type
  std::vector<double> cost;         ///< by type, as RankProblem
  std::size_t others = 0;           ///< further jobs, of which no more than that is known
};

/// Prices of a GPU of each type, in seconds of JCT for each second, from the first submission on.
struct PricePath {
  static constexpr double kStepS = 240;
  std::vector<std::vector<double>> price;  ///< by step, by type; nothing costs anything later
};

/// What divide_by_rank() would have asked for: prices of a division of the whole in which GPUs
/// change hands for nothing at every arrival, every end and every five minutes.
[[nodiscard]] PricePath prices_by_rank(const BoundProblem& problem);

/// Below this mean JCT in seconds no scheduler comes that gives a GPU to one job at a time, and a
/// job GPUs of one type at a time, whatever it knows of the future and whatever it may stop and
/// resize, and even if that cost nothing: by weak duality of the problem in which GPUs are bought
/// at `path` times `scale`, each job for itself. A job that ends at C costs
///
///   C - submitted + max over l of
///     (l x work - integral up to C of max over k of (l x s(k) - price x k))
///
/// at least; the bound is the mean of each one's least, less what all GPUs are worth. Holds for any
/// prices, and is tight for the right ones. Ends are looked at in steps, of each its lower edge.
/// The others count as if they took no time, and no GPUs.
[[nodiscard]] double bound_at(const BoundProblem& problem, const PricePath& path, double scale);

/// The largest bound_at() of the scales that were tried, and never less than the mean of what each
/// job takes at its fastest. 0 without jobs.
[[nodiscard]] double dual_bound(const BoundProblem& problem);

}  // namespace starling
