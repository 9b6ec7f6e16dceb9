// SPDX-License-Identifier: Apache-2.0
#include "topology/equal_routes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace starling {
namespace {

constexpr std::uint64_t kUnreached = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kBytesMax = std::size_t{64} << 20U;

// Integers, so that sums do not depend on their order: picoseconds above, hops below.
std::uint64_t cost_of(const NetworkLink& link) {
  return (static_cast<std::uint64_t>(std::llround(link.latency_us * 1e6)) << 16U) + 1;
}

}  // namespace

EqualRoutes::EqualRoutes(const Topology& topology) {
  const std::size_t nodes = topology.network_nodes().size();
  const auto links = topology.network_links();
  first_.assign(nodes + 1, 0);
  for (const NetworkLink& link : links) ++first_[link.a + 1], ++first_[link.b + 1];
  for (std::size_t v = 0; v < nodes; ++v) first_[v + 1] += first_[v];
  edges_.resize(2 * links.size());
  std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    const std::uint64_t cost = cost_of(links[i]);
    edges_[at[links[i].a]++] = {links[i].b, 2 * i, cost};
    edges_[at[links[i].b]++] = {links[i].a, 2 * i + 1, cost};
  }
  groups_max_ = std::max<std::size_t>(16, kBytesMax / (sizeof(std::uint64_t) * (nodes + 1)));
  // Servers are the first nodes, in their order.
  std::map<std::vector<std::pair<std::uint32_t, std::uint64_t>>, std::uint32_t> alike;
  for (std::uint32_t s = 0; nodes > 0 && s < topology.server_count(); ++s) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> plugged;
    for (const Edge& edge : edges_of(s)) plugged.emplace_back(edge.to, edge.cost);
    std::sort(plugged.begin(), plugged.end());
    group_.push_back(alike.emplace(std::move(plugged), s).first->second);
  }
}

std::span<const EqualRoutes::Edge> EqualRoutes::edges_of(std::uint32_t node) const {
  return std::span(edges_).subspan(first_[node], first_[node + 1] - first_[node]);
}

const EqualRoutes::Distances& EqualRoutes::distances_to(std::uint32_t server) {
  const std::uint32_t group = group_[server];
  if (const auto found = known_.find(group); found != known_.end()) return found->second;
  if (known_.size() >= groups_max_) known_.clear();
  Distances to(first_.size() - 1, kUnreached);
  using Step = std::pair<std::uint64_t, std::uint32_t>;
  std::priority_queue<Step, std::vector<Step>, std::greater<>> reached;
  // Dijkstra from what the server is plugged into, for that is the same for its whole group.
  for (const Edge& edge : edges_of(server)) {
    if (edge.cost < to[edge.to]) reached.emplace(to[edge.to] = edge.cost, edge.to);
  }
  while (!reached.empty()) {
    const auto [distance, node] = reached.top();
    reached.pop();
    if (distance > to[node]) continue;
    for (const Edge& edge : edges_of(node)) {
      const std::uint64_t further = distance + edge.cost;
      if (further < to[edge.to]) reached.emplace(to[edge.to] = further, edge.to);
    }
  }
  return known_.emplace(group, std::move(to)).first->second;
}

void EqualRoutes::find_next(std::uint32_t node, std::uint32_t to, const Distances& distances) {
  next_.clear();
  if (distances[node] == kUnreached) return;
  for (const Edge& edge : edges_of(node)) {
    const std::uint64_t beyond = edge.to == to ? 0 : distances[edge.to];
    if (beyond != kUnreached && beyond + edge.cost == distances[node]) next_.push_back(edge);
  }
}

std::uint32_t EqualRoutes::ports(ServerId from, ServerId to) {
  if (from == to || group_.empty()) return 0;
  find_next(from.value, to.value, distances_to(to.value));
  return static_cast<std::uint32_t>(next_.size());
}

void EqualRoutes::append(ServerId from, ServerId to, std::uint32_t port, std::uint64_t hash,
                         std::vector<LinkDirection>& out) {
  const Distances& distances = distances_to(to.value);
  std::uint32_t node = from.value;
  find_next(node, to.value, distances);
  STARLING_CHECK(port < next_.size());
  for (node = next_[port].to; node != to.value;) {
    find_next(node, to.value, distances);
    STARLING_CHECK(!next_.empty());
    const Edge& edge = next_[mix64(hash ^ mix64(node)) % next_.size()];
    node = edge.to;
    if (node != to.value) out.push_back(edge.via);
  }
}

}  // namespace starling
