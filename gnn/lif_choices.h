// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "gnn/marl.h"
#include "policies/placement/candidates_policy.h"

namespace starling {

/// `lif` with a threshold, as a policy whose decisions a Chooser may make: the same options as the
/// learned one has, with scores whose best is what lif does. Places that meet the threshold score
/// above waiting, the least slowdown first; all others below it, the largest gain first.
class LifChoices final : public PlacementPolicy {
 public:
  LifChoices(const PolicyFacts& facts, const QueueOptions& options, double threshold,
             PlacementOrder order = PlacementOrder::arrival)
      : PlacementPolicy(options, true, order), facts_(facts), threshold_(threshold) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  /// It outlives this. Null: as lif.
  void set_chooser(Chooser* chooser) noexcept { chooser_ = chooser; }

 protected:
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override;
  [[nodiscard]] Answer choose(const View& view, const Wish& wish, const JobView& job) override;

 private:
  PolicyFacts facts_;
  double threshold_;
  Chooser* chooser_ = nullptr;
  std::vector<const Candidate*> options_;
  std::vector<float> scores_;
};

}  // namespace starling
