// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gnn/learned_scorer.h"
#include "gnn/marl/encoder.h"
#include "gnn/marl/features.h"
#include "gnn/marl/marl_net.h"
#include "policies/lif/lif.h"
#include "policies/placement/placement_policy.h"

namespace starling {

/// Scores options by a trained network: marl, harmony. Every option becomes a row of
/// Features, with embeddings of the place, of the partition and of others where the net has an
/// encoder; the partition's is its summary to them. An answer that is no number leaves the decision
/// to `lif` with Features::kMinimumGain.
class MarlScorer final : public LearnedScorer {
 public:
  explicit MarlScorer(MarlNet net);
  [[nodiscard]] PlacementRules rules() const override;
  void begin(const DecisionContext& context) override;
  [[nodiscard]] std::string_view score_is() const override {
    return "the network's preference, the logarithm of odds without a unit";
  }
  void passed_over(const QueueEntry& entry) override { queue_.ahead += entry.gpus; }
  void end(const View& view, Candidates& candidates) override;
  [[nodiscard]] std::span<const float> summary() const override;

  /// One that never waits by arrival, as Harmony.
  [[nodiscard]] PlacementOrder order() const override {
    return net_.waits() ? PlacementOrder::forecast : PlacementOrder::arrival;
  }
  /// The situation, and the embedding of the partition.
  [[nodiscard]] std::size_t state_size() const override {
    return Features::kSituation + EncoderNet::kWidth;
  }
  void state(std::span<float> out) const override;

  /// Of the decision that was scored last and left a choice: [options, Features::kRow]. Valid until
  /// the next score().
  [[nodiscard]] std::span<const float> rows() const noexcept { return rows_; }
  /// As of that decision. Null where the net has none.
  [[nodiscard]] const Encoder* encoder() const noexcept { return encoder_ ? &*encoder_ : nullptr; }

 private:
  void score_options(const DecisionPoint& point, std::span<double> scores) override;
  /// A MarlObservation.
  [[nodiscard]] std::unique_ptr<const Observation> observe_scored(
      const DecisionPoint& point) override;
  void fill_rows(const DecisionPoint& point);
  void fill_embeddings(const DecisionPoint& point, const PlacementOption& option,
                       std::span<float> embeddings);
  void fill_forwards(const DecisionPoint& point, double best);
  [[nodiscard]] QueueView queue_of(const PlacementRequest& request) const;

  MarlNet net_;
  std::optional<Encoder> encoder_;
  Lif rule_{Features::kMinimumGain};
  std::vector<float> rows_, scores_;
  std::vector<float> others_;                // the mean of what others say of their partitions
  std::vector<std::uint32_t> by_size_;       // waiting jobs whose gang has fewer than 2^(i+1) GPUs
  QueueView queue_;                          // without `smaller`
  bool synced_ = false;                      // the encoder has seen the partition
  std::shared_ptr<const GraphShape> shape_;  // of observations; null: none was made
};

}  // namespace starling
