// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "policies/metarl/exploration.h"
#include "policies/placement/scorer.h"

namespace starling {

struct MetaRlOptions {
  double threshold = 0.3;  ///< as Lif's
  double bonus = 1;        ///< deviations by which an explored speed may be better than believed
  double budget = 0.03;    ///< part of all GPU time that explored placements may take
};

/// Placement by model-based reinforcement learning with a model that adapts: our reading of the
/// abstract of J. Yang, L. Bao, W. Liu, R. Yang, C. Wu, Meta-Learning based closed-loop worker
/// placement (IEEE Transactions on Cloud Computing 11(4), 2023), of which nothing else is public.
/// The model is the agents' speed model; that it starts from a meta-learned prior, takes up each
/// measured speed and notes drift is `speed: adaptive` (interference/adapt). Of a place it is asked
/// how fast everybody would be and how unsure that is.
///
/// It places as Lif does with a threshold. Where speeds that are `bonus` deviations better than
/// believed would lead to another place on shared GPUs, it takes that instead, and so finds out, if
///   - both together are believed to do more than the one that runs there alone: gain above 0;
///   - the pair was not explored so often that the bonus has shrunk away: it goes with
///     1 / sqrt(1 + times);
///   - the budget has what the job is expected to take.
/// Scores as Lif's, of the optimistic speeds where it explores.
class MetaRl final : public Scorer {
 public:
  explicit MetaRl(const MetaRlOptions& options) : options_(options), budget_(options.budget) {}

  [[nodiscard]] PlacementRules rules() const override;
  /// Everything; called first in every decision, when it settles the budget.
  [[nodiscard]] View seen(const View& given) override;
  Scored score(const DecisionPoint& point, std::span<double> scores) override;
  /// Only what starts where score() wanted to explore is on the budget.
  void took(const DecisionPoint& point, const Scored& scored, const Placement& placement) override;
  [[nodiscard]] std::string_view score_is() const override;
  void save(MemoryWriter& out, Instant origin) const override { budget_.save(out, origin); }
  void restore(MemoryReader& in, Instant origin) override { budget_.restore(in, origin); }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return budget_.version(); }

  [[nodiscard]] const ExplorationBudget& budget() const noexcept { return budget_; }

 private:
  /// What a place is worth, in millionths, as Candidate.
  struct Worth {
    std::int64_t gain = 0, slowdown = 0;
  };
  /// With speeds better by the bonus; as believed where no job shares a GPU.
  [[nodiscard]] Worth hoped(const DecisionPoint& point, const Candidate& place) const;
  [[nodiscard]] double bonus_of(const DecisionPoint& point, const Candidate& place) const;
  /// explored_pair() of the job and the first that it would share GPUs with.
  [[nodiscard]] static std::uint64_t pair_of(const DecisionPoint& point, const Candidate& place);
  /// The option that hope leads to and belief does not, if it may be explored; null: none.
  [[nodiscard]] const Candidate* worth_exploring(const DecisionPoint& point, double least,
                                                 const Candidate* believed) const;
  [[nodiscard]] double cost_of(const DecisionPoint& point, const Candidate& place) const;

  MetaRlOptions options_;
  ExplorationBudget budget_;
};

}  // namespace starling
