// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "topology/topology.h"

namespace starling {

/// Shortest routes over one network, one tree of them per source, kept while they fit in a bound.
/// Nodes are numbered as in Topology::network_nodes().
class RouteTable {
 public:
  RouteTable(std::size_t nodes, std::span<const NetworkLink> links);
  ~RouteTable();
  RouteTable(const RouteTable&) = delete;
  RouteTable& operator=(const RouteTable&) = delete;

  /// Least latency, then fewest hops; equally good routes are broken the same way every time.
  [[nodiscard]] Route find(std::uint32_t from, std::uint32_t to);

 private:
  struct Graph;
  using Tree = std::vector<std::uint32_t>;  // by node: the link over which it is reached
  const Tree& tree_from(std::uint32_t source);

  std::span<const NetworkLink> links_;
  std::unique_ptr<Graph> graph_;
  std::size_t trees_max_;
  std::mutex mutex_;
  std::map<std::uint32_t, Tree> trees_;
};

}  // namespace starling
