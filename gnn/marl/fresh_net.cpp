// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/fresh_net.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/rng.h"
#include "gnn/marl/features.h"
#include "gnn/marl/graph_shape.h"

namespace starling {
namespace {

class Fresh {
 public:
  explicit Fresh(std::uint64_t seed) : rng_(seed, 0x6d61726c) {}
  void add(const std::string& name, std::vector<std::uint32_t> shape, double scale) {
    std::vector<float> values(Tensor::element_count(shape).value());
    for (float& value : values) value = static_cast<float>(rng_.normal() * scale);
    weights_.tensors[name] = {std::move(shape), std::move(values)};
  }
  void dense(const std::string& name, std::uint32_t in, std::uint32_t out, double gain) {
    add(name + ".weight", {out, in}, gain * std::sqrt(2.0 / static_cast<double>(in)));
    add(name + ".bias", {out}, 0);
  }
  Weights weights_;

 private:
  Rng rng_;
};

void add_encoder(Fresh& net) {
  constexpr std::uint32_t w = EncoderNet::kWidth;
  net.dense("encoder.gpu", EncoderNet::kGpu, w, 1);
  net.dense("encoder.island", w + GraphShape::kIslandFeatures, w, 1);
  net.dense("encoder.socket", w, w, 1);
  net.dense("encoder.server", w + EncoderNet::kServer, w, 1);
  net.dense("encoder.tree", w + GraphShape::kTree, w, 1);
  net.dense("encoder.inside", 2 * w, w, 1);
  net.dense("encoder.place", 2 * w, w, 1);
  net.dense("encoder.group", 3 * w, w, 1);
}

/// An untrained net leaves a job where it is unless the rule would not, and stays so where it
/// learns from one agent alone.
void follow_rule(Weights& weights) {
  std::vector<float>& first = weights.tensors.at("actor.0.weight").values;
  for (std::size_t row = 0; row < first.size(); row += Features::kRow) {
    const auto inputs = std::span(first).subspan(row, Features::kRow);
    std::ranges::fill(inputs.subspan(Features::kForwardAt, Features::kForward), 0.0F);
    std::ranges::fill(inputs.last(EncoderNet::kWidth), 0.0F);  // others
  }
  const InputRow skip(weights.tensors.at("skip").values);
  skip[Input::goes] = -20;
  skip[Input::rule_faster] = 60;
  skip[Input::rule_waits] = 20.05F;
}

}  // namespace

Weights fresh_marl(const MarlShape& shape, std::uint64_t seed) {
  Fresh net(seed);
  if (shape.encoder) add_encoder(net);
  auto in = static_cast<std::uint32_t>(Features::kRow);
  std::size_t layer = 0;
  for (const std::uint32_t out : shape.hidden) {
    net.dense("actor." + std::to_string(layer++), in, out, 0.7);
    in = out;
  }
  net.dense("actor." + std::to_string(layer), in, 1, 0);
  net.add("skip", {static_cast<std::uint32_t>(Features::kOwn)}, 0);
  follow_rule(net.weights_);
  net.weights_.notes["data-center"] = shape.data_center ? "yes" : "no";
  net.weights_.notes["waits"] = shape.waits ? "yes" : "no";
  return std::move(net.weights_);
}

}  // namespace starling
