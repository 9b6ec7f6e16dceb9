// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/policy_model.h"

#include <torch/nn/functional/activation.h>

#include <algorithm>
#include <cmath>

#include "gnn/policy_net.h"

namespace starling {
namespace {

using Index = std::int64_t;
constexpr Index W = EncoderNet::kWidth;

torch::Tensor tensor_of(const std::vector<float>& values, std::vector<Index> shape) {
  torch::Tensor out = torch::empty(shape);
  std::copy(values.begin(), values.end(), out.data_ptr<float>());
  return out;
}

torch::Tensor indices_of(const std::vector<Index>& values) {
  torch::Tensor out = torch::empty({static_cast<Index>(values.size())}, torch::kLong);
  std::copy(values.begin(), values.end(), out.data_ptr<Index>());
  return out;
}

/// [parents, children]: means over ranges of children.
torch::Tensor means(const GraphShape::Layer& layer) {
  Index children = 0;
  for (const IndexRange& range : layer.children)
    children = std::max(children, static_cast<Index>(range.last));
  torch::Tensor out = torch::zeros({layer.size(), std::max<Index>(children, 1)});
  for (std::uint32_t v = 0; v < layer.size(); ++v) {
    const IndexRange range = layer.children[v];
    for (std::uint32_t c = range.first; c < range.last; ++c)
      out.data_ptr<float>()[v * out.size(1) + c] = 1.0F / static_cast<float>(range.size());
  }
  return out;
}

torch::Tensor rows_of(const std::vector<std::uint32_t>& parents) {
  return indices_of({parents.begin(), parents.end()});
}

/// A constant [vertices, features] beside [B, vertices, W].
torch::Tensor beside(const torch::Tensor& x, const std::vector<float>& values, std::size_t first,
                     Index rows, Index features) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  const torch::Tensor constant = tensor_of({begin, begin + rows * features}, {1, rows, features});
  return torch::cat({x, constant.expand({x.size(0), rows, features})}, 2);
}

}  // namespace

void PolicyModel::add(const std::string& name, std::vector<Index> shape, double scale, Rng& rng) {
  torch::Tensor value = torch::empty(shape);
  for (Index i = 0; i < value.numel(); ++i)
    value.data_ptr<float>()[i] = static_cast<float>(rng.normal() * scale);
  value.set_requires_grad(true);
  tensors_[name] = value;
}

PolicyModel::PolicyModel(const Shape& shape, std::uint64_t seed)
    : data_center_(shape.data_center), waits_(shape.waits) {
  Rng rng(seed, 0x6d61726c);
  const auto dense = [&](const std::string& name, Index in, Index out, double gain) {
    add(name + ".weight", {out, in}, gain * std::sqrt(2.0 / static_cast<double>(in)), rng);
    add(name + ".bias", {out}, 0, rng);
  };
  if (shape.encoder) {
    dense("encoder.gpu", EncoderNet::kGpu, W, 1);
    dense("encoder.island", W + static_cast<Index>(GraphShape::kIslandFeatures), W, 1);
    dense("encoder.socket", W, W, 1);
    dense("encoder.server", W + EncoderNet::kServer, W, 1);
    dense("encoder.tree", W + static_cast<Index>(GraphShape::kTree), W, 1);
    dense("encoder.inside", 2 * W, W, 1);
    dense("encoder.place", 2 * W, W, 1);
    dense("encoder.group", 3 * W, W, 1);
  }
  auto in = static_cast<Index>(Features::kRow);
  std::size_t layer = 0;
  for (const Index out : shape.hidden) {
    dense("actor." + std::to_string(layer++), in, out, 0.7);
    in = out;
  }
  dense("actor." + std::to_string(layer), in, 1, 0);
  add("skip", {static_cast<Index>(Features::kOwn)}, 0, rng);
  // An untrained net leaves a job where it is unless the rule would not, and stays so where it
  // learns from one agent alone.
  {
    const torch::NoGradGuard values;
    const torch::Tensor first = tensors_.at("actor.0.weight");
    first.narrow(1, Features::kForwardAt, Features::kForward).zero_();
    first.narrow(1, Features::kRow - EncoderNet::kWidth, EncoderNet::kWidth).zero_();  // others
    const InputRow skip({tensors_.at("skip").data_ptr<float>(), Features::kOwn});
    skip[Input::goes] = -20;
    skip[Input::rule_faster] = 60;
    skip[Input::rule_waits] = 20.05F;
  }
}

Result<PolicyModel> PolicyModel::from(const Weights& weights) {
  if (auto net = PolicyNet::make(weights); !net) return net.error();
  PolicyModel model;
  model.data_center_ = weights.note("data-center", "yes") == "yes";
  model.waits_ = weights.note("waits", "yes") == "yes";
  for (const auto& [name, tensor] : weights.tensors) {
    torch::Tensor value = tensor_of(tensor.values, {tensor.shape.begin(), tensor.shape.end()});
    value.set_requires_grad(true);
    model.tensors_[name] = value;
  }
  return model;
}

Weights PolicyModel::weights() const {
  Weights out;
  for (const auto& [name, tensor] : tensors_) {
    const torch::Tensor values = tensor.detach().contiguous();
    Tensor& to = out.tensors[name];
    for (const Index size : values.sizes()) to.shape.push_back(static_cast<std::uint32_t>(size));
    to.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  }
  out.notes["data-center"] = data_center_ ? "yes" : "no";
  out.notes["waits"] = waits_ ? "yes" : "no";
  return out;
}

std::vector<torch::Tensor> PolicyModel::parameters() const {
  std::vector<torch::Tensor> out;
  for (const auto& [name, tensor] : tensors_) out.push_back(tensor);
  return out;
}

PolicyModel::Batch PolicyModel::batch(const SeenDecisions& seen,
                                      std::span<const std::uint32_t> which) const {
  Batch b;
  b.decisions = static_cast<Index>(which.size());
  const SeenDecision& first = seen.all[which.front()];
  b.shape = seen.shapes[first.shape].get();
  for (const std::uint32_t i : which)
    b.options = std::max(b.options, static_cast<Index>(seen.all[i].options));
  constexpr auto own = static_cast<Index>(Features::kOwn);
  b.own = torch::zeros({b.decisions, b.options, own});
  b.mask = torch::zeros({b.decisions, b.options});
  b.others = torch::zeros({b.decisions, b.options, W});
  std::vector<float> gpus, servers, server_part, group_part;
  std::vector<Index> server_of, server_row, group_of, group_row;
  const Index all_servers = b.shape->hosts.size(), all_groups = b.shape->islands.size();
  for (Index d = 0; d < b.decisions; ++d) {
    const SeenDecision& one = seen.all[which[static_cast<std::size_t>(d)]];
    std::copy(one.own.begin(), one.own.end(), b.own.data_ptr<float>() + d * b.options * own);
    std::copy(one.others.begin(), one.others.end(), b.others.data_ptr<float>() + d * b.options * W);
    for (Index o = 0; o < one.options; ++o) {
      b.mask.data_ptr<float>()[d * b.options + o] = 1;
      const auto pairs = [&](const std::vector<std::uint32_t>& part, Index all,
                             std::vector<Index>& of, std::vector<Index>& row,
                             std::vector<float>& share) {
        for (const std::uint32_t v : part) {
          of.push_back(d * b.options + o);
          row.push_back(d * all + v);
          share.push_back(1.0F / static_cast<float>(part.size()));
        }
      };
      pairs(one.servers[static_cast<std::size_t>(o)], all_servers, server_of, server_row,
            server_part);
      pairs(one.groups[static_cast<std::size_t>(o)], all_groups, group_of, group_row, group_part);
    }
    gpus.insert(gpus.end(), one.graph.gpus.begin(), one.graph.gpus.end());
    servers.insert(servers.end(), one.graph.servers.begin(), one.graph.servers.end());
  }
  b.server_of = indices_of(server_of);
  b.server_row = indices_of(server_row);
  b.server_part = tensor_of(server_part, {static_cast<Index>(server_part.size()), 1});
  b.group_of = indices_of(group_of);
  b.group_row = indices_of(group_row);
  b.group_part = tensor_of(group_part, {static_cast<Index>(group_part.size()), 1});
  if (gpus.empty()) return b;
  b.gpus = tensor_of(gpus, {b.decisions, b.shape->gpus.size(), EncoderNet::kGpu});
  b.servers = tensor_of(servers, {b.decisions, all_servers, EncoderNet::kServer});
  return b;
}

torch::Tensor PolicyModel::layer(const std::string& name, const torch::Tensor& x) const {
  return torch::relu(torch::linear(x, tensors_.at(name + ".weight"), tensors_.at(name + ".bias")));
}

PolicyModel::Embeddings PolicyModel::embed(const Batch& b) const {
  const GraphShape& shape = *b.shape;
  constexpr auto tree = static_cast<Index>(GraphShape::kTree);
  const torch::Tensor gpus = layer("encoder.gpu", b.gpus);
  const torch::Tensor islands =
      layer("encoder.island",
            beside(torch::matmul(means(shape.islands), gpus), shape.island_hardware, 0,
                   shape.islands.size(), static_cast<Index>(GraphShape::kIslandFeatures)));
  const torch::Tensor sockets =
      layer("encoder.socket", torch::matmul(means(shape.sockets), islands));
  const torch::Tensor servers = layer(
      "encoder.server", torch::cat({torch::matmul(means(shape.hosts), sockets), b.servers}, 2));
  const auto up = [&](const GraphShape::Layer& children, const torch::Tensor& below,
                      std::size_t first) {
    return layer("encoder.tree", beside(torch::matmul(means(children), below), shape.tree_hardware,
                                        first * GraphShape::kTree, children.size(), tree));
  };
  const torch::Tensor racks = up(shape.racks, servers, 0);
  const torch::Tensor pods = up(shape.pods, racks, shape.racks.size());
  GraphShape::Layer all;
  all.children = {{0, shape.pods.size()}};
  const torch::Tensor whole = up(all, pods, shape.racks.size() + shape.pods.size());
  const auto down = [&](const std::string& name, const torch::Tensor& x, const torch::Tensor& above,
                        const std::vector<std::uint32_t>& parents) {
    return layer(name, torch::cat({x, above.index_select(1, rows_of(parents))}, 2));
  };
  const torch::Tensor in_pod = down("encoder.inside", pods, whole, shape.pods.parent);
  torch::Tensor in_rack = down("encoder.inside", racks, in_pod, shape.racks.parent);
  if (!data_center_) in_rack = torch::zeros_like(in_rack);
  const torch::Tensor place = down("encoder.place", servers, in_rack, shape.hosts.parent);
  std::vector<std::uint32_t> server_of;
  for (const std::uint32_t socket : shape.islands.parent)
    server_of.push_back(shape.sockets.parent[socket]);
  const torch::Tensor group = layer(
      "encoder.group", torch::cat({islands, sockets.index_select(1, rows_of(shape.islands.parent)),
                                   place.index_select(1, rows_of(server_of))},
                                  2));
  torch::Tensor partition = whole.squeeze(1);
  if (!data_center_) partition = torch::zeros_like(partition);
  return {place, group, partition};
}

torch::Tensor PolicyModel::scores(const Batch& b) const {
  torch::Tensor place = torch::zeros({b.decisions * b.options, W});
  torch::Tensor group = torch::zeros({b.decisions * b.options, W});
  torch::Tensor whole = torch::zeros({b.decisions, W});
  if (has_encoder()) {
    const Embeddings e = embed(b);
    place = place.index_add(0, b.server_of,
                            e.place.reshape({-1, W}).index_select(0, b.server_row) * b.server_part);
    group = group.index_add(0, b.group_of,
                            e.group.reshape({-1, W}).index_select(0, b.group_row) * b.group_part);
    whole = e.whole;
  }
  const torch::Tensor each = whole.unsqueeze(1).expand({b.decisions, b.options, W});
  torch::Tensor x = torch::cat({b.own, place.view({b.decisions, b.options, W}),
                                group.view({b.decisions, b.options, W}), each, b.others},
                               2);
  for (std::size_t i = 0;; ++i) {
    const std::string name = "actor." + std::to_string(i);
    x = torch::linear(x, tensors_.at(name + ".weight"), tensors_.at(name + ".bias"));
    if (!tensors_.contains("actor." + std::to_string(i + 1) + ".weight")) break;
    x = torch::relu(x);
  }
  const torch::Tensor direct = torch::matmul(b.own, tensors_.at("skip"));
  return (x.squeeze(2) + direct).masked_fill(b.mask == 0, -1e9);
}

}  // namespace starling
