// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/counted.h"
#include "topology/cuts.h"
#include "topology/describe.h"

namespace starling {
namespace {

using Severity = Finding::Severity;

std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

void check_connected(const Topology& topology, std::vector<Finding>& findings) {
  const auto nodes = topology.network_nodes();
  std::vector<std::uint32_t> parent(nodes.size());
  std::iota(parent.begin(), parent.end(), 0U);
  std::vector<std::uint32_t> degree(nodes.size());
  for (const NetworkLink& link : topology.network_links()) {
    ++degree[link.a];
    ++degree[link.b];
    parent[root_of(parent, link.a)] = root_of(parent, link.b);
  }
  std::size_t isolated = 0;
  std::string first;
  std::vector<bool> seen(nodes.size());
  std::size_t pieces = 0;
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    if (degree[s] == 0) {
      if (isolated++ == 0) first = nodes[s].name;
    } else if (const std::uint32_t root = root_of(parent, s); !seen[root]) {
      seen[root] = true;
      ++pieces;
    }
  }
  if (isolated > 0) {
    findings.push_back({Severity::error, counted(isolated, "server has", "servers have") +
                                             " no link, " + first +
                                             " first; link them to a switch"});
  }
  if (pieces > 1) {
    findings.push_back({Severity::error, "the network is in " + std::to_string(pieces) +
                                             " pieces; add switches above, such as core_switches"});
  }
}

bool inside(const IndexRange& inner, const IndexRange& outer) {
  return inner.first >= outer.first && inner.last <= outer.last;
}

// A switch belongs to the smallest rack or pod that holds all servers below it. The uplink of a
// rack or pod are the links from its switches and servers to those of others.
void check_uplinks(const Topology& topology, Level level, std::vector<Finding>& findings) {
  const std::vector<NodeSpan> spans = spans_of(topology);
  constexpr std::uint32_t outside = ~std::uint32_t{0};
  const auto home = [&](std::uint32_t node) {
    const NodeSpan& span = spans[node];
    if (span.layer == NodeSpan::kUnreached) return outside;
    const ServerId server(span.servers.first);
    const std::uint32_t tree =
        level == Level::rack ? topology.rack_of(server) : topology.pod_of(server);
    return inside(span.servers, topology.subtrees()[tree].servers) ? tree : outside;
  };
  std::vector<double> up(topology.subtrees().size());
  for (const NetworkLink& link : topology.network_links()) {
    const std::uint32_t a = home(link.a);
    const std::uint32_t b = home(link.b);
    if (a == b) continue;
    if (a != outside) up[a] += link.gbps;
    if (b != outside) up[b] += link.gbps;
  }
  std::size_t narrow = 0;
  double worst = 1;
  std::string where;
  for (std::size_t i = 1; i < up.size(); ++i) {
    const Subtree& tree = topology.subtrees()[i];
    if (tree.level != level || up[i] <= 0) continue;
    double nics = 0;
    for (std::uint32_t s = tree.servers.first; s < tree.servers.last; ++s) {
      nics += topology.servers()[s].nic_gbps;
    }
    const double ratio = nics / up[i];
    if (ratio <= 1 + 1e-9) continue;
    ++narrow;
    if (ratio > worst) {
      worst = ratio;
      where = tree.name;
    }
  }
  if (narrow == 0) return;
  char text[64];
  std::snprintf(text, sizeof text, "%.2f : 1 in ", worst);
  findings.push_back({Severity::warning, std::to_string(narrow) + " " + name_of(level) +
                                             (narrow == 1 ? " is" : "s are") +
                                             " oversubscribed, at worst " + text + where +
                                             "; widen the links above"});
}

}  // namespace

std::vector<Finding> check_topology(const Topology& topology) {
  std::vector<Finding> findings;
  if (topology.gpu_count() == 0) {
    findings.push_back({Severity::warning, "there are no GPUs; nothing can be scheduled"});
  }
  if (topology.network_nodes().empty()) {
    findings.push_back({Severity::warning, "there is no network; routes are unknown"});
    return findings;
  }
  check_connected(topology, findings);
  check_uplinks(topology, Level::rack, findings);
  check_uplinks(topology, Level::pod, findings);
  return findings;
}

}  // namespace starling
