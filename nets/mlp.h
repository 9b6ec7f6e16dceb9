// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nets/weights.h"

namespace starling {

enum class Activation : std::uint8_t { relu, tanh };

/// Dense layers with an activation between them and none after the last:
///   x [rows, inputs] --> (x - mean) * scale --> linear --> activation --> ... --> linear [rows,
///   outputs]
/// Tensors, with a prefix such as "actor.": 0.weight [out, in], 0.bias [out], 1.weight, ... in
/// order, and, if the inputs are to be normalised, input.mean and input.scale [inputs]. Note prefix
/// + "activation": relu (the default) or tanh.
///
/// One thread at a time: run() uses buffers of its own, and allocates only when `rows` is the
/// largest so far.
class Mlp {
 public:
  /// `not_found` or `invalid` names the tensor that is missing or does not fit.
  [[nodiscard]] static Result<Mlp> make(const Weights& weights, const std::string& prefix = "");

  [[nodiscard]] std::size_t inputs() const noexcept { return layers_.front().in; }
  [[nodiscard]] std::size_t outputs() const noexcept { return layers_.back().out; }
  /// in: rows * inputs() values, out: rows * outputs() values, row-major.
  void run(std::span<const float> in, std::size_t rows, std::span<float> out);

 private:
  struct Layer {
    std::size_t in = 0, out = 0;
    std::vector<float> weight;  // [out, in]
    std::vector<float> bias;
  };
  std::vector<Layer> layers_;
  std::vector<float> mean_, scale_;  // empty: not normalised
  Activation activation_ = Activation::relu;
  std::vector<float> ping_, pong_;
};

}  // namespace starling
