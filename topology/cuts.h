// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace starling {

/// Where each network node stands over the row of servers. A switch stands over what hangs below
/// it: its neighbours that are one hop nearer to the servers.
struct NodeSpan {
  static constexpr std::uint32_t kUnreached = ~std::uint32_t{0};
  std::uint32_t layer = kUnreached;  ///< hops to the nearest server; servers are 0
  IndexRange servers;                ///< the smallest range that holds all servers below
  double middle = 0;                 ///< mean of the middles below, in servers
};

/// By network node.
[[nodiscard]] std::vector<NodeSpan> spans_of(const Topology& topology);

/// By border b (0 to server_count): the Gbit/s of the links that pass over the gap before server b,
/// every switch standing in the middle of what hangs below it.
[[nodiscard]] std::vector<double> crossing_gbps(const Topology& topology);

}  // namespace starling
