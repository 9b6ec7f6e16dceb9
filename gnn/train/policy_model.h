// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "gnn/train/decisions.h"
#include "nets/weights.h"

namespace starling {

/// PolicyNet and EncoderNet once more, in libtorch: what training changes, and what nets/ is held
/// to. One thread; same input, same output.
class PolicyModel {
 public:
  struct Shape {
    bool encoder = true;
    bool data_center =
        true;  ///< false: embeddings end at the server, nothing is known of its surroundings
    bool waits = true;  ///< false: the policy places whatever fits, as Harmony does
    std::vector<std::int64_t> hidden{48, 24};
  };
  /// Small random values, the actor's last layer and skip zero.
  PolicyModel(const Shape& shape, std::uint64_t seed);
  /// As the weights say. `invalid` if they make no PolicyNet.
  [[nodiscard]] static Result<PolicyModel> from(const Weights& weights);
  [[nodiscard]] Weights weights() const;

  /// Decisions of one shape as tensors, the options of each padded to the same number.
  struct Batch {
    torch::Tensor gpus, servers;  // [B, G, kGpu], [B, S, kServer]
    torch::Tensor own, mask;      // [B, O, kOwn], [B, O]: 1 where there is an option
    torch::Tensor others;         // [B, O, W]
    torch::Tensor server_of, server_row, server_part;  // of each pair (option, server)
    torch::Tensor group_of, group_row, group_part;     // the same of GPU groups
    const GraphShape* shape = nullptr;
    std::int64_t decisions = 0, options = 0;
  };
  [[nodiscard]] Batch batch(const SeenDecisions& seen, std::span<const std::uint32_t> which) const;
  /// [B, O]; very low where there is no option.
  [[nodiscard]] torch::Tensor scores(const Batch& batch) const;

  [[nodiscard]] std::vector<torch::Tensor> parameters() const;
  [[nodiscard]] bool has_encoder() const { return tensors_.contains("encoder.gpu.weight"); }

 private:
  struct Embeddings {
    torch::Tensor place, group, whole;  // [B, S, W], [B, I, W], [B, W]
  };
  PolicyModel() = default;
  void add(const std::string& name, std::vector<std::int64_t> shape, double scale, Rng& rng);
  [[nodiscard]] torch::Tensor layer(const std::string& name, const torch::Tensor& x) const;
  [[nodiscard]] Embeddings embed(const Batch& batch) const;

  std::map<std::string, torch::Tensor> tensors_;
  bool data_center_ = true, waits_ = true;
};

}  // namespace starling
