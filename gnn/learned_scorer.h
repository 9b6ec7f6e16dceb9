// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "gnn/ablation_mask.h"
#include "policies/placement/placement_system.h"

namespace starling {

/// What a learned system keeps of one decision: all that its scores depend on, copied, so that its
/// net can say in training once more how it scores each option. Only the system knows what is in
/// it.
struct Observation {
  virtual ~Observation() = default;
};

/// A Scorer whose weights are trained: the features and the net of a learned system as agents run
/// them. It says what training needs beside scores. Serves one partition, one thread.
class LearnedScorer : public Scorer {
 public:
  /// What is hidden from it from now on.
  void hide(const AblationMask& mask) noexcept { mask_ = mask; }
  [[nodiscard]] View seen(const View& given) final { return isolated_.seen_with(mask_, given); }
  Scored score(const DecisionPoint& point, std::span<double> scores) final {
    scored_ = {point.job.order, point.options.size()};
    score_options(point, scores);
    return {};
  }

  /// The order in which its weights were trained to be asked about jobs.
  [[nodiscard]] virtual PlacementOrder order() const { return PlacementOrder::arrival; }
  /// `point` is the decision that was scored last, which is checked, and left a choice.
  [[nodiscard]] std::unique_ptr<const Observation> observe(const DecisionPoint& point) {
    STARLING_CHECK(scored_ == std::pair(point.job.order, point.options.size()) && !point.forced());
    return observe_scored(point);
  }
  /// Beyond single options, what it knew of its partition in that decision: for the critic, which
  /// hears of all agents. state_size() numbers, of the order of 1; none: the critic goes by the
  /// number of jobs alone.
  [[nodiscard]] virtual std::size_t state_size() const { return 0; }
  virtual void state(std::span<float> /*out*/) const {}

 private:
  /// As score().
  virtual void score_options(const DecisionPoint& point, std::span<double> scores) = 0;
  /// As observe(). What the last score_options() left may be read.
  [[nodiscard]] virtual std::unique_ptr<const Observation> observe_scored(
      const DecisionPoint& point) = 0;

  AblationMask mask_;
  IsolatedSpeed isolated_;
  std::pair<std::uint64_t, std::size_t> scored_;  // order of the job, number of options
};

}  // namespace starling
