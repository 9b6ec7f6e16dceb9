// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "topology/topology.h"

namespace starling {

/// A link in one of its directions: 2 * index into Topology::network_links(), plus 1 where it is
/// crossed from b to a. Links are full duplex: each direction has the whole bandwidth.
using LinkDirection = std::uint32_t;

/// Equal-cost multi-path routing: of equally short routes (least latency, then fewest hops, as
/// Topology::route) each node on the way takes one by a hash (RFC 2992), so that different hashes
/// spread over all and the same hash always goes the same way. Servers relay where links say so.
///
/// Distances are kept for all servers that are plugged in alike, as those of a rack, as long as
/// they fit in a bound. For one thread.
class EqualRoutes {
 public:
  explicit EqualRoutes(const Topology& topology);

  /// Links of `from` with which a shortest route to `to` begins; 0 where there is none.
  [[nodiscard]] std::uint32_t ports(ServerId from, ServerId to);
  /// Appends the links between the ends' own on the route that begins with the port-th of ports()
  /// and goes on by `hash`: those that servers elsewhere share. `port` is below ports().
  void append(ServerId from, ServerId to, std::uint32_t port, std::uint64_t hash,
              std::vector<LinkDirection>& out);

 private:
  struct Edge {
    std::uint32_t to = 0;
    LinkDirection via = 0;
    std::uint64_t cost = 0;
  };
  using Distances = std::vector<std::uint64_t>;  // by node, to a server of the group
  [[nodiscard]] std::span<const Edge> edges_of(std::uint32_t node) const;
  [[nodiscard]] const Distances& distances_to(std::uint32_t server);
  /// The edges of `node` that lie on shortest routes to server `to`, into next_.
  void find_next(std::uint32_t node, std::uint32_t to, const Distances& distances);

  std::vector<std::uint32_t> first_;  // edges of node v: first_[v] .. first_[v + 1]
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> group_;  // by server: the first one that is plugged in alike
  std::size_t groups_max_ = 0;
  std::unordered_map<std::uint32_t, Distances> known_;  // by group; looked up, never walked
  std::vector<Edge> next_;
};

}  // namespace starling
