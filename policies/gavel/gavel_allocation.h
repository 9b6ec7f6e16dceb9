// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace starling {

/// What Gavel (OSDI'20) decides over: jobs x GPU types.
struct GavelProblem {
  struct Row {
    JobId job;
    std::uint32_t gpus = 1;
    std::vector<double> speed;  ///< by type, in work per second; 0: cannot run there
    double left = 0;            ///< work that remains
    double age_s = 0;           ///< since it was submitted
    double isolated_s = 0;      ///< that the work done so far would have taken on a fair share
    std::size_t kind = 0;       ///< with sharing: rows of a kind are alike in gpus and speed
    std::uint32_t jobs = 1;     ///< it stands for so many that are alike
  };
  /// Two kinds of equal gangs whose jobs may run on the same GPUs, and how fast they then are, by
  /// type; 0 where they may not.
  struct Pair {
    std::size_t first = 0, second = 0;  ///< kinds; the same for two jobs of one kind
    std::vector<double> first_speed, second_speed;
  };
  std::vector<std::uint32_t> gpus;  ///< by type
  std::vector<Row> rows;            ///< in order of arrival
  std::vector<Pair> pairs;          ///< each once
};

/// By row and type: the fraction of time that the job is to run on that type. A row sums up to 1 at
/// most, a type's column, weighted by the gangs' sizes, to its GPUs.
using GavelAllocation = std::vector<std::vector<double>>;

/// For a goal that must be as small as it can: the speed that each row needs to meet it.
using GavelNeeds = std::function<std::vector<double>(double goal)>;
/// Ratio of finish time to that on a fair share.
[[nodiscard]] GavelNeeds needs_for_finish_ratio(const GavelProblem& problem);
/// Seconds until all is done.
[[nodiscard]] GavelNeeds needs_for_makespan(const GavelProblem& problem);
/// The smallest goal to `precision` (a ratio) for which `feasible` holds, which is monotone;
/// between `low` and `high`, or beyond. Nothing if there is none.
[[nodiscard]] std::optional<double> smallest_goal(double low, double high, double precision,
                                                  const std::function<bool(double)>& feasible);

/// The smallest speed, in units of the job's speed on an even share of all types, times its GPUs,
/// is as large as it can be.
[[nodiscard]] GavelAllocation max_min_fairness(const GavelProblem& problem);
/// The largest ratio of finish time to that on a fair share of the cluster is as small as it can
/// be, to 0.2 %.
[[nodiscard]] GavelAllocation finish_time_fairness(const GavelProblem& problem);
/// The time after which all is done is as small as it can be, to 5 %.
[[nodiscard]] GavelAllocation shortest_makespan(const GavelProblem& problem);
/// The sum of the speeds, each in units of the job's fastest, times its GPUs, is as large as it can
/// be.
[[nodiscard]] GavelAllocation max_throughput(const GavelProblem& problem);

/// Speed of a row on 1/n of every type, n being the number of rows.
[[nodiscard]] double isolated_speed(const GavelProblem& problem, const GavelProblem::Row& row);

/// In order of arrival, each on its fastest type that has room; ties to the first type. Stops at
/// the first job that has no room.
[[nodiscard]] GavelAllocation fifo_aware(const GavelProblem& problem);

/// FIFO that does not know the types apart: each on a random type that has room, which it keeps.
/// Stops at the first job that has no room.
class GavelFifo {
 public:
  using Pick = std::function<std::uint32_t(std::uint32_t)>;  ///< a number below the argument
  [[nodiscard]] GavelAllocation allocate(const GavelProblem& problem, const Pick& pick);
  /// By job the type that it has; for Policy::save().
  [[nodiscard]] const std::map<JobId, std::size_t>& held() const noexcept { return held_; }
  void restore(std::map<JobId, std::size_t> held) { held_ = std::move(held); }

 private:
  std::map<JobId, std::size_t> held_;  // type
};

}  // namespace starling
