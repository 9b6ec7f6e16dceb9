// SPDX-License-Identifier: Apache-2.0
#include "gnn/linear/systems.h"

#include <algorithm>
#include <numeric>

#include "gnn/linear/linear.h"

namespace starling {
namespace {

constexpr PolicyFacts kLinear{.name = "linear",
                              .summary = "learned placement by five weights",
                              .family = Family::placement,
                              .needs_running = true,
                              .shares_gpus = true,
                              .needs_model_file = true};

class LinearScorer final : public LearnedScorer {
 public:
  LinearScorer(std::vector<float> weights, bool shares)
      : weights_(std::move(weights)), shares_(shares) {}
  [[nodiscard]] PlacementRules rules() const override {
    return {.shared = shares_ ? SharedPlaces::always : SharedPlaces::never};
  }
  [[nodiscard]] std::size_t state_size() const override { return 1; }
  void state(std::span<float> out) const override { out[0] = busy_; }

 private:
  void score_options(const DecisionPoint& point, std::span<double> scores) override {
    rows_.clear();
    for (std::size_t i = 0; i < point.options.size(); ++i) {
      std::vector<float> row(kLinearFeatures);
      fill(point, point.options[i], row);
      scores[i] = std::inner_product(row.begin(), row.end(), weights_.begin(), 0.0F);
      rows_.insert(rows_.end(), row.begin(), row.end());
    }
    busy_ = static_cast<float>(point.view.gpus.busy_count()) /
            static_cast<float>(std::max(1U, point.view.gpus.gpus().size()));
  }
  [[nodiscard]] std::unique_ptr<const Observation> observe_scored(const DecisionPoint&) override {
    auto seen = std::make_unique<LinearObservation>();
    seen->rows = rows_;
    return seen;
  }
  static void fill(const DecisionPoint& point, const PlacementOption& option,
                   std::span<float> row) {
    const auto at = [&](LinearFeature f) -> float& { return row[static_cast<std::size_t>(f)]; };
    at(LinearFeature::waits) = option.kind == OptionKind::wait ? 1 : 0;
    if (option.place == nullptr) return;
    const double best = point.best_alone(),
                 lost = static_cast<double>(option.place->inflicted_loss());
    at(LinearFeature::speed) = best > 0 ? static_cast<float>(option.place->own / best) : 0;
    at(LinearFeature::inflicted_loss) =
        static_cast<float>(lost / static_cast<double>(kGpu) / point.request.gpus);
    at(LinearFeature::shares) = option.place->shares() ? 1 : 0;
    at(LinearFeature::spread) = option.place->kind == CandidateKind::spread ? 1 : 0;
  }

  std::vector<float> weights_, rows_;
  bool shares_;
  float busy_ = 0;  // part of the partition
};

MakeScorer scorers(OptionReader& reader) {
  const bool shares = reader.choice("share", {"yes", "no"}, "no: a GPU has one job") == "yes";
  return [shares](const Weights& weights) -> Result<std::unique_ptr<LearnedScorer>> {
    constexpr auto kSize = static_cast<std::uint32_t>(kLinearFeatures);
    const auto tensor = weights.tensor("weights", std::span(&kSize, 1));
    if (!tensor) return tensor.error();
    return std::unique_ptr<LearnedScorer>(
        std::make_unique<LinearScorer>(tensor.value()->values, shares));
  };
}

}  // namespace

std::vector<LearnedSystem> linear_systems() { return {{kLinear, {}, scorers}}; }

}  // namespace starling
