// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace starling {

/// How many jobs a run had in its system at any time, and the area below that curve: by Little's
/// law the sum of all job completion times is the area of the whole run.
class JobsOverTime {
 public:
  JobsOverTime() = default;
  /// (submitted, finished) of every job, s, in any order.
  explicit JobsOverTime(std::span<const std::pair<double, double>> jobs);
  [[nodiscard]] double at(double s) const;    ///< jobs that are there just after `s`
  [[nodiscard]] double area(double s) const;  ///< job seconds from the start to `s`
  [[nodiscard]] double end() const { return finish_.empty() ? 0 : finish_.back(); }

 private:
  std::vector<double> submit_, finish_;          // ascending
  std::vector<double> submit_sum_, finish_sum_;  // of the first i
};

/// The advantages of decisions at some steps of a run, as generalised advantage estimation has it
/// (Schulman et al. 2016, arXiv 1506.02438), in continuous time: what is counted at most once for
/// each step there is counted here for each hour.
struct Returns {
  std::vector<double> advantage;
  std::vector<double> target;  ///< for the critic: advantage + value
};
/// `at_h`: the time steps, ascending. `reward[k]` came between step k and the next, the last one
/// until the end of the run, after which nothing comes. `value[k]`: what the critic says. Of what
/// comes an hour later the part `discount` counts, and of the critic's error there the part
/// `lambda` of that.
[[nodiscard]] Returns advantages(std::span<const double> at_h, std::span<const double> reward,
                                 std::span<const double> value, double discount, double lambda);

}  // namespace starling
