// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "interference/flows/max_min.h"
#include "topology/equal_routes.h"
#include "topology/placement.h"
#include "topology/topology.h"

namespace starling {

/// What a gang's exchange puts on the links between switches, in parts of what it sends through the
/// NICs of one of its servers, or of a scale-up domain, which leaves as one. Links of the servers
/// themselves are left out: how gangs share a NIC is IterationForm's.
///
/// All-reduce: a ring over the servers and domains in their order, so a rack is left once and
/// entered once (Patarasuk and Yuan 2009). Parameter servers, spread evenly over the servers: each
/// to all others. Two domains speak through all their servers, in pairs. What goes from a server to
/// another is a flow for each of its ports, as collectives open a channel per NIC, and each takes
/// one of the equal routes by a hash of (job, the two servers, port).
class GangFlows {
 public:
  explicit GangFlows(const Topology& topology) : topology_(topology), routes_(topology) {}

  /// Into `out`, ascending by LinkDirection. Nothing where no link is shared, as within one rack,
  /// and where the topology has no network.
  void find(JobId job, const Placement& placement, bool parameter_servers,
            std::vector<LinkUse>& out);

 private:
  struct Exit {  // a server, or servers of one domain
    std::uint32_t first = 0, last = 0;
  };
  void collect_exits(const Placement& placement);
  void connect(JobId job, const Exit& from, const Exit& to, double weight,
               std::vector<LinkUse>& out);

  Topology topology_;
  EqualRoutes routes_;
  // Scratch, kept.
  std::vector<std::uint32_t> servers_;
  std::vector<Exit> exits_;  // ranges of servers_
  std::vector<LinkDirection> route_;
};

}  // namespace starling
