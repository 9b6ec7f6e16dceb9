// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "policies/placement/scorer.h"

namespace starling {

/// The start with the least slowdown, of the job and of those beside it, among those that add at
/// least `gain` millionths of a GPU net of what the others lose; the first of equals. Null: none.
[[nodiscard]] const Candidate* least_interference(const DecisionPoint& point, double gain);
/// In millionths of a GPU, what a place must add so that it is `threshold` of the job's best speed.
[[nodiscard]] double least_gain(const DecisionPoint& point, double threshold);

/// What there is for a job, by how little it and others are slowed.
struct LeastInterference {
  double gain = 0;                     ///< what a place must add to be good enough (least_gain)
  const Candidate* here = nullptr;     ///< the best such place; null: none
  const Destination* there = nullptr;  ///< the partition that is better still; null: none
};
/// `threshold`: as Lif's.
[[nodiscard]] LeastInterference look_for_least(const DecisionPoint& point, double threshold);
/// Lif's scores of all options, and those of forwards.
void score_by_least(const DecisionPoint& point, double threshold, const LeastInterference& found,
                    std::span<double> scores);

/// Least interference first: of all places the one with the least slowdown. With a threshold a
/// place has to add that part of what the job does alone at its best, net of what the others lose,
/// weighted by GPUs; if none does, the job waits for as long as anything runs here, or for its time
/// elsewhere.
///
/// Places that are good enough score above waiting, the least slowdown highest, in (0, 2); the
/// others below it, the largest gain highest; waiting scores 0.
class Lif final : public Scorer {
 public:
  /// `threshold`: in [0, 1]; 0: any place will do.
  explicit Lif(double threshold) : threshold_(threshold) {}
  [[nodiscard]] PlacementRules rules() const override;
  Scored score(const DecisionPoint& point, std::span<double> scores) override;
  [[nodiscard]] std::string_view score_is() const override;

 private:
  double threshold_;
};

}  // namespace starling
