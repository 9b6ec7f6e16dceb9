// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scheduling/policy.h"
#include "topology/server_room.h"
#include "topology/topology.h"

namespace starling {

/// The servers of another partition with free GPUs, and what is left beside those, by its digest:
/// so never more than there was when it said so. One that says nothing of servers has given no CPUs
/// or memory away, or is too old to say. If all its GPUs are free they are its servers as they are;
/// else the fewest and roomiest that its counts of free GPUs and the topology allow, which is not
/// what there is where servers of a GPU type differ.
[[nodiscard]] std::vector<ServerRoom> rooms_of(const Topology& topology,
                                               const RemoteDigest& digest);

}  // namespace starling
