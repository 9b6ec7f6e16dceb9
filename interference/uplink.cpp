// SPDX-License-Identifier: Apache-2.0
#include "interference/uplink.h"

#include <limits>

namespace starling {

std::vector<double> uplink_share_gbps(const Topology& topology) {
  const auto nodes = topology.network_nodes();
  std::vector<double> up(nodes.size(), 0);
  std::vector<std::uint32_t> plugged(nodes.size(), 0);
  for (const NetworkLink& link : topology.network_links()) {
    const bool a_server = nodes[link.a].is_server;
    const bool b_server = nodes[link.b].is_server;
    if (a_server != b_server) ++plugged[a_server ? link.b : link.a];
    if (a_server || b_server) continue;
    up[link.a] += link.gbps;
    up[link.b] += link.gbps;
  }
  std::vector<double> share(topology.server_count(), 0);
  for (const NetworkLink& link : topology.network_links()) {
    const bool a_server = nodes[link.a].is_server;
    if (a_server == nodes[link.b].is_server) continue;
    const NetworkNode& server = nodes[a_server ? link.a : link.b];
    const std::uint32_t leaf = a_server ? link.b : link.a;
    share[server.server.value] += up[leaf] / plugged[leaf];
  }
  for (double& gbps : share) {
    if (gbps <= 0) gbps = std::numeric_limits<double>::infinity();
  }
  return share;
}

}  // namespace starling
