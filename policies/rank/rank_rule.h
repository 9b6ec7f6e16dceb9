// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace starling {

/// A size that a job could have, and how fast it is with it: in units of the size that it asks for,
/// alone on its best place.
struct RankSize {
  std::uint32_t gpus = 0;
  double speed = 0;
};

/// A job as the rule sees it.
struct RankJob {
  /// By GPU type: its sizes, ascending; none where it cannot have that type. What they refer to
  /// must outlive the problem.
  std::vector<std::span<const RankSize>> sizes;
  double left_s = 1;       ///< expected work, in time at the size that it asks for
  double least_gpu_s = 1;  ///< GPU time of a second of its work in its most frugal size, on its
                           ///< fastest type
  double aged = 0;         ///< part of the jobs that pass it no more for having waited
  std::int32_t priority = 0;
  bool stoppable = true;  ///< what it gets can be taken back
  /// What it has for sure, of which type; more of that type alone is to be had.
  RankSize base = {};
  std::uint32_t base_type = 0;
};

/// Jobs, and what there is to be divided among them.
struct RankProblem {
  std::vector<RankJob> jobs;
  std::vector<std::uint32_t> free;  ///< GPUs, by type
  std::vector<double> cost;         ///< by type: what one of its GPUs is to be worth, above 0
  std::vector<bool> held = {};      ///< by type, as in the answer; empty: none holds any
};

/// So many GPUs of a type for a job, and what each of the last of them is worth.
struct RankGrant {
  std::uint32_t type = 0;
  std::uint32_t gpus = 0;
  double speed = 0;
  double value = 0;
};

struct RankAnswer {
  std::vector<std::optional<RankGrant>> grants;  ///< by job, with its base; nothing: it waits
  std::vector<std::optional<RankGrant>> more;    ///< what it would have had next
  std::vector<double> rank;   ///< of each job: how many are at least as long, and what age adds
  std::vector<double> price;  ///< by type: value of the GPU given last; 0: some are left
  std::vector<bool> held;     ///< by type: an aged job waits for more than could be given

  /// What a GPU of the type would be worth to the others if this job left it: of its own type what
  /// another would have had next there, of another the price.
  [[nodiscard]] double worth_to_others(std::size_t job, std::uint32_t type) const;

  /// Of whom `more` is worth most, by type, and the next one.
  struct Wanted {
    double value = 0, next = 0;
    std::size_t job = 0;
  };
  std::vector<Wanted> wanted;
};

/// The rule `rank`. GPUs go one step of a job's speeds at a time to the job with the largest
///
///   rank x (least_gpu_s x gain of speed per GPU) / cost of the type
///
/// A step leads from one corner of the concave hull of speed over GPUs to the next; the second
/// factor is how frugal the job is with these GPUs, 1 at its best. `rank` is how many jobs are at
/// least as long, itself among them, by the GPU time that is left of them in their most frugal
/// sizes: so many are sooner done by each second that its end is sooner. Where speeds are linear
/// that is SRPT; where all have speed k^p and come together the shares are close to those of heSRPT
/// (Berg, Vesilo and Harchol-Balter 2020). A job whose next step does not fit has the fastest size
/// that does.
///
/// What is left in the end makes faster whom it can, in place of what they have: a fast type that
/// is not worth its cost to any job is no reason to stay on a slow one while it is free.
///
/// Priorities come first: each class divides what the more urgent leave. With `aged` a the rank of
/// a job is a x (jobs) more. A job with a >= 1 whose step does not fit on any type holds the one
/// where most is free: what cannot be taken back gets nothing of it any more, so that it will come
/// to fit. Deterministic; ties go to the job that comes first. O(s log s) in the number of steps s.
[[nodiscard]] RankAnswer divide_by_rank(const RankProblem& problem);

/// RankAnswer::rank, which does not depend on what can be had.
[[nodiscard]] std::vector<double> ranks_of(const RankProblem& problem);

/// The corners of the concave hull of (0, 0), or of `base`, and `sizes`, without the first.
[[nodiscard]] std::vector<RankSize> hull_of(std::span<const RankSize> sizes, RankSize base = {});

}  // namespace starling
