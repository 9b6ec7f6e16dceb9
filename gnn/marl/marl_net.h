// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gnn/marl/encoder_net.h"
#include "nets/mlp.h"

namespace starling {

/// The trained network of a placement policy: the encoder, and an actor that scores one option at a
/// time, so that any number of them, of agents and of topologies is served by the same weights:
///
///   score = skip . row + actor(row)          row: see Features
///
/// Tensors: those of EncoderNet (without them the embeddings are all zero: a policy that looks at
/// the options alone), skip [Features::kOwn] for the part of a row without embeddings, and an Mlp
/// under "actor." from Features::kRow to 1.
class MarlNet {
 public:
  /// `not_found` or `invalid` names the tensor that is missing or does not fit.
  [[nodiscard]] static Result<MarlNet> make(const Weights& weights);
  /// Note waits "no": waiting is no option of this policy while there is room.
  [[nodiscard]] bool waits() const noexcept { return waits_; }
  [[nodiscard]] bool has_encoder() const noexcept { return encoder_.has_value(); }
  [[nodiscard]] const EncoderNet& encoder() const { return *encoder_; }
  /// rows: [scores.size(), Features::kRow]. One thread at a time.
  void score(std::span<const float> rows, std::span<float> scores);

 private:
  std::optional<EncoderNet> encoder_;
  std::optional<Mlp> actor_;
  std::vector<float> skip_;
  bool waits_ = true;
};

}  // namespace starling
