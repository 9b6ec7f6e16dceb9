// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/decisions.h"

#include <algorithm>
#include <utility>

namespace starling {

SeenDecision& SeenDecisions::add(const DecisionPoint& point, const NetScorer& net) {
  const IndexRange servers = point.view.gpus.servers();
  const auto [known, fresh] =
      known_.try_emplace({number_of(&point.view.topology.parts()), servers.first, servers.last},
                         static_cast<std::uint32_t>(shapes.size()));
  if (fresh)
    shapes.push_back(std::make_shared<GraphShape>(make_graph_shape(point.view.topology, servers)));
  const GraphShape& shape = *shapes[known->second];
  SeenDecision& seen = all.emplace_back();
  seen.shape = known->second;
  if (net.encoder() != nullptr) seen.graph = net.encoder()->state();
  seen.options = static_cast<std::uint32_t>(point.options.size());
  seen.servers.resize(seen.options);
  seen.groups.resize(seen.options);
  for (std::size_t i = 0; i < seen.options; ++i) {
    const auto row = net.rows().subspan(i * Features::kRow, Features::kOwn);
    seen.own.insert(seen.own.end(), row.begin(), row.end());
    if (net.encoder() != nullptr) {
      const auto others =
          net.rows().subspan((i + 1) * Features::kRow - EncoderNet::kWidth, EncoderNet::kWidth);
      seen.others.insert(seen.others.end(), others.begin(), others.end());
    }
    if (point.options[i].place == nullptr) continue;
    for (const GpuId gpu : point.options[i].place->placement) {
      if (!shape.gpus.contains(gpu.value)) continue;
      const std::uint32_t server = point.view.topology.server_of(gpu).value - servers.first;
      const std::uint32_t group = shape.island_of[gpu.value - shape.gpus.first];
      if (seen.servers[i].empty() || seen.servers[i].back() != server)
        seen.servers[i].push_back(server);
      if (seen.groups[i].empty() || seen.groups[i].back() != group) seen.groups[i].push_back(group);
    }
  }
  return seen;
}

std::size_t SeenDecisions::number_of(const Topology::Parts* topology) {
  const auto known = std::ranges::find(topologies_, topology);
  const auto number = static_cast<std::size_t>(known - topologies_.begin());
  if (known == topologies_.end()) topologies_.push_back(topology);
  return number;
}

void SeenDecisions::append(SeenDecisions other) {
  std::vector<std::uint32_t> here(other.shapes.size());
  for (const auto& [place, index] : other.known_) {
    auto key = place;
    std::get<0>(key) = number_of(other.topologies_[std::get<0>(place)]);
    const auto [known, fresh] = known_.try_emplace(key, static_cast<std::uint32_t>(shapes.size()));
    if (fresh) shapes.push_back(other.shapes[index]);
    here[index] = known->second;
  }
  for (SeenDecision& seen : other.all) {
    seen.shape = here[seen.shape];
    all.push_back(std::move(seen));
  }
}

}  // namespace starling
