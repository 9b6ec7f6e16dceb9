// SPDX-License-Identifier: Apache-2.0
#include "topology/cuts.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

std::vector<std::vector<std::uint32_t>> neighbours_of(const Topology& topology) {
  std::vector<std::vector<std::uint32_t>> neighbours(topology.network_nodes().size());
  for (const NetworkLink& link : topology.network_links()) {
    neighbours[link.a].push_back(link.b);
    neighbours[link.b].push_back(link.a);
  }
  return neighbours;
}

}  // namespace

std::vector<NodeSpan> spans_of(const Topology& topology) {
  const auto nodes = topology.network_nodes();
  std::vector<NodeSpan> spans(nodes.size());
  std::vector<std::uint32_t> queue;
  for (std::uint32_t i = 0; i < nodes.size() && nodes[i].is_server; ++i) {
    spans[i] = {0, {i, i + 1}, i + 0.5};
    queue.push_back(i);
  }
  const auto neighbours = neighbours_of(topology);
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const std::uint32_t next : neighbours[queue[at]]) {
      if (spans[next].layer != NodeSpan::kUnreached) continue;
      spans[next].layer = spans[queue[at]].layer + 1;
      queue.push_back(next);
    }
  }
  for (const std::uint32_t node : queue) {  // breadth-first, so what is below is done
    NodeSpan& span = spans[node];
    if (span.layer == 0) continue;
    double sum = 0;
    double below = 0;
    for (const std::uint32_t next : neighbours[node]) {
      if (spans[next].layer + 1 != span.layer) continue;
      const IndexRange there = spans[next].servers;
      span.servers = below == 0 ? there
                                : IndexRange{std::min(span.servers.first, there.first),
                                             std::max(span.servers.last, there.last)};
      sum += spans[next].middle;
      below += 1;
    }
    span.middle = sum / below;
  }
  return spans;
}

std::vector<double> crossing_gbps(const Topology& topology) {
  const std::vector<NodeSpan> spans = spans_of(topology);
  std::vector<double> change(topology.server_count() + std::size_t{2});
  for (const NetworkLink& link : topology.network_links()) {
    const auto [low, high] = std::minmax(spans[link.a].middle, spans[link.b].middle);
    // Borders b with low < b <= high.
    change[static_cast<std::size_t>(std::floor(low)) + 1] += link.gbps;
    change[static_cast<std::size_t>(std::floor(high)) + 1] -= link.gbps;
  }
  std::vector<double> crossing(topology.server_count() + std::size_t{1});
  double sum = 0;
  for (std::size_t b = 0; b < crossing.size(); ++b) {
    sum += change[b];
    crossing[b] = sum;
  }
  return crossing;
}

}  // namespace starling
