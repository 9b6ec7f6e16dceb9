// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/train/marl_model.h"

#include <torch/nn/functional/activation.h>

#include <algorithm>
#include <vector>

#include "gnn/marl/features.h"
#include "gnn/marl/marl_net.h"
#include "gnn/train/tensors.h"

namespace starling {
namespace {

using Index = std::int64_t;
constexpr Index W = EncoderNet::kWidth;

const MarlObservation& marl(const Observation* observation) {
  return static_cast<const MarlObservation&>(*observation);
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
  const torch::Tensor constant =
      tensor_of(std::span(begin, begin + rows * features), {1, rows, features});
  return torch::cat({x, constant.expand({x.size(0), rows, features})}, 2);
}

/// Means over parts of the vertices: of each pair (option, vertex of its place) the option's row,
/// the vertex' row among those of all decisions, and what of the mean it makes up.
struct Parts {
  std::vector<Index> of, row;
  std::vector<float> share;

  void add(Index option, const std::vector<std::uint32_t>& vertices, Index first) {
    for (const std::uint32_t v : vertices) {
      of.push_back(option);
      row.push_back(first + v);
      share.push_back(1.0F / static_cast<float>(vertices.size()));
    }
  }
  /// [options, W] of [decisions, vertices, W].
  [[nodiscard]] torch::Tensor mean(const torch::Tensor& vertices, Index options) const {
    const torch::Tensor each = vertices.reshape({-1, W}).index_select(0, indices_of(row));
    return torch::zeros({options, W})
        .index_add(0, indices_of(of),
                   each * tensor_of(share, {static_cast<Index>(share.size()), 1}));
  }
};

}  // namespace

Result<std::unique_ptr<PolicyModel>> MarlModel::from(const Weights& weights) {
  if (auto net = MarlNet::make(weights); !net) return net.error();
  Weights named = weights;
  named.notes.try_emplace("data-center", "yes");
  named.notes.try_emplace("waits", "yes");
  std::unique_ptr<MarlModel> model(new MarlModel(named));
  model->data_center_ = weights.note("data-center", "yes") == "yes";
  return std::unique_ptr<PolicyModel>(std::move(model));
}

MarlModel::Embeddings MarlModel::embed(Observations observations) const {
  const GraphShape& shape = *marl(observations.front()).shape;
  std::vector<float> gpu_rows, server_rows;
  for (const Observation* one : observations) {
    const GraphState& graph = marl(one).graph;
    gpu_rows.insert(gpu_rows.end(), graph.gpus.begin(), graph.gpus.end());
    server_rows.insert(server_rows.end(), graph.servers.begin(), graph.servers.end());
  }
  const auto count = static_cast<Index>(observations.size());
  const torch::Tensor gpu_state = tensor_of(gpu_rows, {count, shape.gpus.size(), EncoderNet::kGpu});
  const torch::Tensor server_state =
      tensor_of(server_rows, {count, shape.hosts.size(), EncoderNet::kServer});
  constexpr auto tree = static_cast<Index>(GraphShape::kTree);
  const torch::Tensor gpus = layer("encoder.gpu", gpu_state);
  const torch::Tensor islands =
      layer("encoder.island",
            beside(torch::matmul(means(shape.islands), gpus), shape.island_hardware, 0,
                   shape.islands.size(), static_cast<Index>(GraphShape::kIslandFeatures)));
  const torch::Tensor sockets =
      layer("encoder.socket", torch::matmul(means(shape.sockets), islands));
  const torch::Tensor servers = layer(
      "encoder.server", torch::cat({torch::matmul(means(shape.hosts), sockets), server_state}, 2));
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

torch::Tensor MarlModel::score(Observations observations, Index options) const {
  const auto decisions = static_cast<Index>(observations.size());
  std::vector<std::span<const float>> own_rows, other_rows;
  Parts servers, groups;
  for (Index d = 0; d < decisions; ++d) {
    const MarlObservation& one = marl(observations[static_cast<std::size_t>(d)]);
    own_rows.emplace_back(one.own);
    other_rows.emplace_back(one.others);
    for (std::size_t o = 0; o < one.servers.size(); ++o) {
      const Index option = d * options + static_cast<Index>(o);
      servers.add(option, one.servers[o], d * one.shape->hosts.size());
      groups.add(option, one.groups[o], d * one.shape->islands.size());
    }
  }
  const torch::Tensor own = padded(own_rows, options, static_cast<Index>(Features::kOwn));
  const torch::Tensor others = padded(other_rows, options, W);
  torch::Tensor place = torch::zeros({decisions * options, W});
  torch::Tensor group = torch::zeros({decisions * options, W});
  torch::Tensor whole = torch::zeros({decisions, W});
  if (has("encoder.gpu.weight")) {
    const Embeddings e = embed(observations);
    place = servers.mean(e.place, decisions * options);
    group = groups.mean(e.group, decisions * options);
    whole = e.whole;
  }
  const torch::Tensor each = whole.unsqueeze(1).expand({decisions, options, W});
  torch::Tensor x = torch::cat(
      {own, place.view({decisions, options, W}), group.view({decisions, options, W}), each, others},
      2);
  for (std::size_t i = 0;; ++i) {
    x = linear("actor." + std::to_string(i), x);
    if (!has("actor." + std::to_string(i + 1) + ".weight")) break;
    x = torch::relu(x);
  }
  return x.squeeze(2) + torch::matmul(own, tensor("skip"));
}

}  // namespace starling
