// SPDX-License-Identifier: Apache-2.0
#include <torch/nn/functional/activation.h>

#include "gnn/linear/linear.h"
#include "gnn/linear/systems.h"
#include "gnn/train/policy_model.h"
#include "gnn/train/tensors.h"
#include "gnn/train/trainable_system.h"

namespace starling {
namespace {

class LinearModel final : public PolicyModel {
 public:
  explicit LinearModel(const Weights& weights) : PolicyModel(weights) {}

 private:
  [[nodiscard]] torch::Tensor score(std::span<const Observation* const> observations,
                                    Index options) const override {
    std::vector<std::span<const float>> rows;
    for (const Observation* one : observations)
      rows.emplace_back(static_cast<const LinearObservation&>(*one).rows);
    return torch::matmul(padded(rows, options, static_cast<Index>(kLinearFeatures)),
                         tensor("weights"));
  }
};

/// All scores are equal: the first option is as good as any.
Weights fresh(const NetOptions&, std::uint64_t) {
  Weights out;
  out.tensors["weights"] = {{kLinearFeatures}, std::vector<float>(kLinearFeatures)};
  return out;
}

Result<std::unique_ptr<PolicyModel>> model(const Weights& weights) {
  if (auto scorer = make_scorer(linear_systems().front(), weights); !scorer) return scorer.error();
  return std::unique_ptr<PolicyModel>(std::make_unique<LinearModel>(weights));
}

}  // namespace

std::vector<TrainableSystem> linear_trainable() {
  NetTraining training;
  training.evolved = {"weights"};
  training.fresh = fresh;
  training.model = model;
  return trainable(linear_systems(), training);
}

}  // namespace starling
