// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/decisions.h"

#include <algorithm>
#include <utility>

namespace starling {

SeenDecision& SeenDecisions::add(const DecisionPoint& point, LearnedScorer& net) {
  const IndexRange servers = point.view.gpus.servers();
  const auto known =
      known_.try_emplace({number_of(&point.view.topology.parts()), servers.first, servers.last},
                         static_cast<std::uint32_t>(known_.size()));
  SeenDecision& seen = all.emplace_back();
  seen.partition = known.first->second;
  seen.observation = net.observe(point);
  seen.options = static_cast<std::uint32_t>(point.options.size());
  return seen;
}

std::size_t SeenDecisions::number_of(const Topology::Parts* topology) {
  const auto known = std::ranges::find(topologies_, topology);
  const auto number = static_cast<std::size_t>(known - topologies_.begin());
  if (known == topologies_.end()) topologies_.push_back(topology);
  return number;
}

void SeenDecisions::append(SeenDecisions other) {
  std::vector<std::uint32_t> here(other.known_.size());
  for (const auto& [place, index] : other.known_) {
    auto key = place;
    std::get<0>(key) = number_of(other.topologies_[std::get<0>(place)]);
    here[index] = known_.try_emplace(key, static_cast<std::uint32_t>(known_.size())).first->second;
  }
  for (SeenDecision& seen : other.all) {
    seen.partition = here[seen.partition];
    all.push_back(std::move(seen));
  }
}

}  // namespace starling
