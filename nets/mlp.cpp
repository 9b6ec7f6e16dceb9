// SPDX-License-Identifier: Apache-2.0
#include "nets/mlp.h"

#include <Eigen/Core>
#include <algorithm>

#include "base/check.h"
#include "nets/eigen_types.h"

namespace starling {
namespace {

using Vector = Eigen::Matrix<float, Eigen::Dynamic, 1>;

}  // namespace

Result<Mlp> Mlp::make(const Weights& weights, const std::string& prefix) {
  Mlp mlp;
  const std::string activation = weights.note(prefix + "activation", "relu");
  if (activation != "relu" && activation != "tanh") {
    return Error{Errc::invalid, "note " + prefix + "activation is '" + activation.substr(0, 64) +
                                    "'; it is relu or tanh"};
  }
  mlp.activation_ = activation == "tanh" ? Activation::tanh : Activation::relu;
  std::uint32_t width = 0;  // any, for the first layer
  for (std::size_t i = 0;; ++i) {
    const std::string name = prefix + std::to_string(i);
    if (i > 0 && !weights.tensors.contains(name + ".weight")) break;
    const std::uint32_t shape[] = {0, width};
    const auto weight = weights.tensor(name + ".weight", shape);
    if (!weight) return weight.error();
    const std::uint32_t out = weight.value()->shape[0];
    const auto bias = weights.tensor(name + ".bias", std::span(&out, 1));
    if (!bias) return bias.error();
    mlp.layers_.push_back(
        {weight.value()->shape[1], out, weight.value()->values, bias.value()->values});
    width = out;
  }
  if (weights.tensors.contains(prefix + "input.mean") ||
      weights.tensors.contains(prefix + "input.scale")) {
    const auto inputs = static_cast<std::uint32_t>(mlp.inputs());
    const auto mean = weights.tensor(prefix + "input.mean", std::span(&inputs, 1));
    if (!mean) return mean.error();
    const auto scale = weights.tensor(prefix + "input.scale", std::span(&inputs, 1));
    if (!scale) return scale.error();
    mlp.mean_ = mean.value()->values;
    mlp.scale_ = scale.value()->values;
  }
  return mlp;
}

void Mlp::run(std::span<const float> in, std::size_t rows, std::span<float> out) {
  STARLING_CHECK(in.size() == rows * inputs() && out.size() == rows * outputs());
  if (rows == 0) return;
  std::size_t widest = inputs();
  for (const Layer& layer : layers_) widest = std::max(widest, layer.out);
  if (ping_.size() < rows * widest) {
    ping_.resize(rows * widest);
    pong_.resize(rows * widest);
  }

  const float* from = in.data();
  if (!mean_.empty()) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t column = i % inputs();
      ping_[i] = (in[i] - mean_[column]) * scale_[column];
    }
    from = ping_.data();
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool last = i + 1 == layers_.size();
    float* to = last ? out.data() : from == ping_.data() ? pong_.data() : ping_.data();
    const Eigen::Map<const Matrix> weight(layer.weight.data(), index(layer.out), index(layer.in));
    const Eigen::Map<const Vector> bias(layer.bias.data(), index(layer.out));
    if (rows == 1) {
      Eigen::Map<Vector> y(to, index(layer.out));
      y.noalias() = weight * Eigen::Map<const Vector>(from, index(layer.in));
      y += bias;
    } else {
      Eigen::Map<Matrix> y(to, index(rows), index(layer.out));
      y.noalias() =
          Eigen::Map<const Matrix>(from, index(rows), index(layer.in)) * weight.transpose();
      y.rowwise() += bias.transpose();
    }
    if (!last) {
      Eigen::Map<Eigen::ArrayXf> y(to, index(rows * layer.out));
      if (activation_ == Activation::relu) {
        y = y.max(0.0F);
      } else {
        y = y.tanh();
      }
    }
    from = to;
  }
}

}  // namespace starling
