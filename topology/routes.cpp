// SPDX-License-Identifier: Apache-2.0
#include "topology/routes.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace starling {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kTreeBytesMax = std::size_t{64} << 20U;

struct Edge {
  std::uint64_t cost = 0;
  std::uint32_t link = 0;
};

// Integers, so that sums do not depend on their order: picoseconds above, hops below.
std::uint64_t cost_of(const NetworkLink& link) {
  return (static_cast<std::uint64_t>(std::llround(link.latency_us * 1e6)) << 16U) + 1;
}

}  // namespace

struct RouteTable::Graph {
  using List =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Edge>;
  List list;
};

namespace {

template <class List>
struct RecordLink : boost::dijkstra_visitor<> {
  explicit RecordLink(std::vector<std::uint32_t>& out) : via(&out) {}
  void edge_relaxed(typename List::edge_descriptor edge, const List& list) const {
    (*via)[boost::target(edge, list)] = list[edge].link;
  }
  std::vector<std::uint32_t>* via;
};

}  // namespace

RouteTable::RouteTable(std::size_t nodes, std::span<const NetworkLink> links)
    : links_(links), graph_(std::make_unique<Graph>(Graph{Graph::List(nodes)})) {
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    boost::add_edge(links[i].a, links[i].b, Edge{cost_of(links[i]), i}, graph_->list);
  }
  trees_max_ = std::max<std::size_t>(16, kTreeBytesMax / (sizeof(std::uint32_t) * (nodes + 1)));
}

RouteTable::~RouteTable() = default;

const RouteTable::Tree& RouteTable::tree_from(std::uint32_t source) {
  const auto known = trees_.find(source);
  if (known != trees_.end()) return known->second;
  if (trees_.size() >= trees_max_) trees_.clear();
  Tree via(boost::num_vertices(graph_->list), kUnreached);
  boost::dijkstra_shortest_paths(graph_->list, source,
                                 boost::weight_map(boost::get(&Edge::cost, graph_->list))
                                     .visitor(RecordLink<Graph::List>(via)));
  return trees_.emplace(source, std::move(via)).first->second;
}

Route RouteTable::find(std::uint32_t from, std::uint32_t to) {
  const std::lock_guard lock(mutex_);
  const Tree& via = tree_from(from);
  Route route;
  if (from == to || via[to] == kUnreached) return route;
  route.bottleneck_gbps = std::numeric_limits<double>::infinity();
  for (std::uint32_t at = to; at != from;) {
    const NetworkLink& link = links_[via[at]];
    route.links.push_back(via[at]);
    route.latency_us += link.latency_us;
    route.bottleneck_gbps = std::min(route.bottleneck_gbps, link.gbps);
    at = link.a == at ? link.b : link.a;
  }
  std::reverse(route.links.begin(), route.links.end());
  return route;
}

}  // namespace starling
