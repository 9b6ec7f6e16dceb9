// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/marl_observation.h"

#include <algorithm>

#include "gnn/marl/marl_scorer.h"

namespace starling {

std::unique_ptr<const Observation> MarlScorer::observe_scored(const DecisionPoint& point) {
  const Topology& topology = point.view.topology;
  const IndexRange servers = point.view.gpus.servers();
  if (!shape_) shape_ = std::make_shared<GraphShape>(make_graph_shape(topology, servers));
  auto seen = std::make_unique<MarlObservation>();
  seen->shape = shape_;
  if (encoder_) seen->graph = encoder_->state();
  seen->servers.resize(point.options.size());
  seen->groups.resize(point.options.size());
  for (std::size_t i = 0; i < point.options.size(); ++i) {
    const auto row = std::span(rows_).subspan(i * Features::kRow, Features::kRow);
    seen->own.insert(seen->own.end(), row.begin(), row.begin() + Features::kOwn);
    if (encoder_) {
      const auto others = row.last(EncoderNet::kWidth);
      seen->others.insert(seen->others.end(), others.begin(), others.end());
    }
    if (point.options[i].place == nullptr) continue;
    for (const GpuId gpu : point.options[i].place->placement) {
      if (!shape_->gpus.contains(gpu.value)) continue;
      const std::uint32_t server = topology.server_of(gpu).value - servers.first;
      const std::uint32_t group = shape_->island_of[gpu.value - shape_->gpus.first];
      std::vector<std::uint32_t>&on = seen->servers[i], &in = seen->groups[i];
      if (on.empty() || on.back() != server) on.push_back(server);
      if (in.empty() || in.back() != group) in.push_back(group);
    }
  }
  return seen;
}

void MarlScorer::state(std::span<float> out) const {
  const auto row = std::span(rows_).first(Features::kRow);
  const auto partition = row.subspan(Features::kOwn + EncoderNet::kPlace, EncoderNet::kWidth);
  std::ranges::copy(row.first(Features::kSituation), out.begin());
  std::ranges::copy(partition, out.begin() + Features::kSituation);
}

}  // namespace starling
