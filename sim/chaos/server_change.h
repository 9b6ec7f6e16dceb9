// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "topology/topology.h"

namespace starling {

/// What is to become of a data centre's servers, by their names: numbers may be others by then.
struct ServerChange {
  struct New {
    std::string name;
    std::uint32_t executor = 0;
    bool first = false;  ///< of its executor's servers; else the last
    std::uint32_t gpus = 1;
  };
  std::set<std::string> leave;
  std::map<std::string, std::uint32_t> gpus;  ///< of servers that get another number of them
  std::vector<New> come;

  [[nodiscard]] bool empty() const { return leave.empty() && gpus.empty() && come.empty(); }
};

/// The data centre after it, and the servers of each executor, of which a new one has the rack.
struct NextServers {
  Topology topology;
  std::vector<IndexRange> executors;  ///< empty: it has none left
};
/// `executors`: their servers now, in ascending order and side by side; empty: it has none.
[[nodiscard]] NextServers next_servers(const Topology& now, std::span<const IndexRange> executors,
                                       const ServerChange& change);

}  // namespace starling
