// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "gnn/marl/marl_observation.h"
#include "gnn/train/policy_model.h"

namespace starling {

/// MarlNet and EncoderNet once more, in libtorch.
class MarlModel final : public PolicyModel {
 public:
  /// As the weights say. `invalid` if they make no MarlNet.
  [[nodiscard]] static Result<std::unique_ptr<PolicyModel>> from(const Weights& weights);

 private:
  using Observations = std::span<const Observation* const>;
  /// Embeddings of every server, of every GPU group, and of the whole: [B, S, W], [B, I, W],
  /// [B, W].
  struct Embeddings {
    torch::Tensor place, group, whole;
  };
  explicit MarlModel(const Weights& weights) : PolicyModel(weights) {}
  [[nodiscard]] torch::Tensor score(Observations observations, Index options) const override;
  [[nodiscard]] Embeddings embed(Observations observations) const;

  bool data_center_ = true;
};

}  // namespace starling
