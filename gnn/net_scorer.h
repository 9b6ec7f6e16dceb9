// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/ablation_mask.h"
#include "gnn/encoder.h"
#include "gnn/features.h"
#include "gnn/policy_net.h"
#include "policies/placement/lif.h"
#include "policies/placement/placement_policy.h"

namespace starling {

/// In which order a net was trained to be asked: one that never waits by arrival, as Harmony.
[[nodiscard]] inline PlacementOrder order_of(const PolicyNet& net) {
  return net.waits() ? PlacementOrder::forecast : PlacementOrder::arrival;
}

/// Reads order=; what it asks for is order_asked().
[[nodiscard]] std::string read_order(OptionReader& reader);
[[nodiscard]] inline PlacementOrder order_asked(std::string_view order, PlacementOrder trained) {
  if (order == "trained") return trained;
  return order == "forecast" ? PlacementOrder::forecast : PlacementOrder::arrival;
}

/// What a trained network says that options are worth: marl, harmony. Every option becomes a row of
/// Features, with embeddings of the place, of the partition and of others where the net has an
/// encoder; the partition's is its summary to them. An answer that is no number leaves the decision
/// to `lif` with Features::kMinimumGain.
class NetScorer final : public Scorer {
 public:
  explicit NetScorer(PolicyNet net, const AblationMask& mask = {});
  [[nodiscard]] PlacementRules rules() const override;
  [[nodiscard]] View seen(const View& given) override { return isolated_.seen_with(mask_, given); }
  void begin(const DecisionContext& context) override;
  void score(const DecisionPoint& point, std::span<double> worth) override;
  [[nodiscard]] std::string_view worth_is() const override {
    return "the network's preference, the logarithm of odds without a unit";
  }
  void passed_over(const QueueEntry& entry) override { queue_.ahead += entry.gpus; }
  void end(const View& view, Candidates& candidates) override;
  [[nodiscard]] std::span<const float> summary() const override;

  /// Of the last decision that was scored: [options, Features::kRow].
  [[nodiscard]] std::span<const float> rows() const noexcept { return rows_; }
  /// As of that decision. Null where the net has none.
  [[nodiscard]] const Encoder* encoder() const noexcept { return encoder_ ? &*encoder_ : nullptr; }

 private:
  void fill_rows(const DecisionPoint& point);
  void fill_embeddings(const DecisionPoint& point, const PlacementOption& option,
                       std::span<float> embeddings);
  void fill_forwards(const DecisionPoint& point, double best);
  [[nodiscard]] QueueView queue_of(const Wish& wish) const;

  PolicyNet net_;
  AblationMask mask_;
  IsolatedSpeed isolated_;
  std::optional<Encoder> encoder_;
  Lif rule_{Features::kMinimumGain};
  std::vector<float> rows_, scores_;
  std::vector<float> others_;           // the mean of what others say of their partitions
  std::vector<std::uint32_t> by_size_;  // waiting jobs whose gang has fewer than 2^(i+1) GPUs
  QueueView queue_;                     // without `smaller`
  bool synced_ = false;                 // the encoder has seen the partition
};

}  // namespace starling
