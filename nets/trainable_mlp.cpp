// SPDX-License-Identifier: Apache-2.0
#include "nets/trainable_mlp.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "nets/eigen_types.h"
#include "nets/mlp.h"

namespace starling {
namespace {

using Row = Eigen::Matrix<float, 1, Eigen::Dynamic>;

}  // namespace

TrainableMlp::TrainableMlp(std::vector<std::uint32_t> widths) : widths_(std::move(widths)) {
  STARLING_CHECK(widths_.size() >= 2);
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
    Layer layer{widths_[i], widths_[i + 1], at, 0};
    layer.bias = at + layer.in * layer.out;
    at = layer.bias + layer.out;
    layers_.push_back(layer);
  }
  parameters_.assign(at, 0);
  gradients_.assign(at, 0);
  moments_.first.assign(at, 0);
  moments_.second.assign(at, 0);
  values_.resize(widths_.size());
}

TrainableMlp::TrainableMlp(std::vector<std::uint32_t> widths, Rng& rng)
    : TrainableMlp(std::move(widths)) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const double last = i + 1 == layers_.size() ? 0.1 : 1;
    const double sigma = last * std::sqrt(2.0 / static_cast<double>(layer.in));
    for (std::size_t k = layer.weight; k < layer.bias; ++k)
      parameters_[k] = static_cast<float>(sigma * rng.normal());
  }
}

Result<TrainableMlp> TrainableMlp::make(const Weights& weights, const std::string& prefix) {
  if (const auto runs = Mlp::make(weights, prefix); !runs) return runs.error();
  if (const std::string activation = weights.note(prefix + "activation", "relu");
      activation != "relu")
    return {Errc::invalid, "note " + prefix + "activation is '" + activation +
                               "'; a net that learns has relu between its layers"};
  if (weights.tensors.contains(prefix + "input.mean"))
    return {Errc::invalid, "there is a tensor " + prefix +
                               "input.mean; a net that learns takes its inputs as they are"};
  std::vector<std::uint32_t> widths;
  for (std::size_t i = 0;; ++i) {
    const auto at = weights.tensors.find(prefix + std::to_string(i) + ".weight");
    if (at == weights.tensors.end()) break;
    if (i == 0) widths.push_back(at->second.shape[1]);
    widths.push_back(at->second.shape[0]);
  }
  TrainableMlp made(std::move(widths));
  for (std::size_t i = 0; i < made.layers_.size(); ++i) {
    const Layer& layer = made.layers_[i];
    const std::string name = prefix + std::to_string(i);
    const auto copy = [&](const std::string& tensor, std::size_t to) {
      const auto& values = weights.tensors.at(tensor).values;
      std::copy(values.begin(), values.end(),
                made.parameters_.begin() + static_cast<std::ptrdiff_t>(to));
    };
    copy(name + ".weight", layer.weight);
    copy(name + ".bias", layer.bias);
  }
  return made;
}

void TrainableMlp::put(Weights& weights, const std::string& prefix) const {
  const auto part = [&](std::size_t from, std::size_t to) {
    return std::vector<float>(parameters_.begin() + static_cast<std::ptrdiff_t>(from),
                              parameters_.begin() + static_cast<std::ptrdiff_t>(to));
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const std::string name = prefix + std::to_string(i);
    weights.tensors[name + ".weight"] = {{widths_[i + 1], widths_[i]},
                                         part(layer.weight, layer.bias)};
    weights.tensors[name + ".bias"] = {{widths_[i + 1]}, part(layer.bias, layer.bias + layer.out)};
  }
}

std::span<const float> TrainableMlp::forward(std::span<const float> in, std::size_t rows) {
  STARLING_CHECK(in.size() == rows * inputs());
  rows_ = rows;
  values_[0].assign(in.begin(), in.end());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    values_[i + 1].resize(rows * layer.out);
    const Eigen::Map<const Matrix> x(values_[i].data(), index(rows), index(layer.in));
    const Eigen::Map<const Matrix> weight(parameters_.data() + layer.weight, index(layer.out),
                                          index(layer.in));
    const Eigen::Map<const Row> bias(parameters_.data() + layer.bias, index(layer.out));
    Eigen::Map<Matrix> y(values_[i + 1].data(), index(rows), index(layer.out));
    y.noalias() = x * weight.transpose();
    y.rowwise() += bias;
    if (i + 1 < layers_.size()) y = y.cwiseMax(0.0F);
  }
  return values_.back();
}

void TrainableMlp::backward(std::span<const float> out) {
  STARLING_CHECK(out.size() == rows_ * outputs());
  ping_.assign(out.begin(), out.end());
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const Eigen::Map<const Matrix> x(values_[i].data(), index(rows_), index(layer.in));
    const Eigen::Map<const Matrix> by_y(ping_.data(), index(rows_), index(layer.out));
    Eigen::Map<Matrix> weight(gradients_.data() + layer.weight, index(layer.out), index(layer.in));
    Eigen::Map<Row> bias(gradients_.data() + layer.bias, index(layer.out));
    weight.noalias() += by_y.transpose() * x;
    bias += by_y.colwise().sum();
    if (i == 0) break;
    pong_.resize(rows_ * layer.in);
    const Eigen::Map<const Matrix> w(parameters_.data() + layer.weight, index(layer.out),
                                     index(layer.in));
    Eigen::Map<Matrix> by_x(pong_.data(), index(rows_), index(layer.in));
    by_x.noalias() = by_y * w;
    by_x.array() = (x.array() > 0).select(by_x.array(), 0.0F);  // x is what a relu answered
    ping_.swap(pong_);
  }
}

void TrainableMlp::step(double rate, double longest) {
  double square = 0;
  for (const float g : gradients_) square += static_cast<double>(g) * g;
  if (!std::isfinite(square)) return std::fill(gradients_.begin(), gradients_.end(), 0.0F);
  const double length = std::sqrt(square);
  const auto scale = static_cast<float>(length > longest ? longest / length : 1);
  ++moments_.steps;
  constexpr float kFirst = 0.9F, kSecond = 0.999F, kSmall = 1e-8F;
  const auto steps = static_cast<double>(moments_.steps);
  const auto first_part = static_cast<float>(1 - std::pow(static_cast<double>(kFirst), steps));
  const auto second_part = static_cast<float>(1 - std::pow(static_cast<double>(kSecond), steps));
  const auto speed = static_cast<float>(rate);
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const float g = gradients_[k] * scale;
    float& first = moments_.first[k];
    float& second = moments_.second[k];
    first = kFirst * first + (1 - kFirst) * g;
    second = kSecond * second + (1 - kSecond) * g * g;
    parameters_[k] -= speed * (first / first_part) / (std::sqrt(second / second_part) + kSmall);
    gradients_[k] = 0;
  }
}

}  // namespace starling
