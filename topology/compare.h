// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// What becomes of a server that stands in two descriptions of a data centre, by its name.
struct KeptServer {
  ServerId before, after;
  /// What its jobs would notice: "8 GPUs instead of 4". Nothing may run there while it happens.
  std::string change;
};

/// A data centre and what is to come after it.
struct TopologyChange {
  std::vector<KeptServer> kept;   ///< in their order
  std::vector<ServerId> added;    ///< of the later one
  std::vector<ServerId> removed;  ///< of the earlier one
  /// Speeds of links, capacities that grow, names of racks: no job has to make room for it.
  bool otherwise = false;

  [[nodiscard]] bool empty() const {
    for (const KeptServer& server : kept) {
      if (!server.change.empty()) return false;
    }
    return added.empty() && removed.empty() && !otherwise;
  }
};

/// Servers are the same where their names are. `invalid`: two servers of one description have the
/// same name, or servers that stay would pass one another in the order, so that no range of them
/// would be what it was.
[[nodiscard]] Result<TopologyChange> compare(const Topology& before, const Topology& after);

/// What the numbers of servers and GPUs become. Those that stay keep their order.
struct Renumbering {
  static constexpr std::uint32_t kGone = ~std::uint32_t{0};
  std::vector<std::uint32_t> servers, gpus;  ///< by the earlier number
  /// By the earlier number of a GPU: its server leaves or changes, so nothing may use it.
  std::vector<bool> cleared;
  std::vector<bool> cleared_servers;
};
[[nodiscard]] Result<Renumbering> renumbering(const Topology& before, const Topology& after);

}  // namespace starling
