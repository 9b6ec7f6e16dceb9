// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scheduling/policy.h"
#include "topology/server_room.h"
#include "topology/topology.h"

namespace starling {

/// The servers of another partition with free GPUs, and what is left beside those, by its digest:
/// so never more than there was when it said so. One that says nothing of servers has given no CPUs
/// or memory away, or is too old to say: then they are the fewest and roomiest servers that its
/// counts of free GPUs and the topology allow, which is more than there is where servers of a GPU
/// type differ.
[[nodiscard]] std::vector<ServerRoom> rooms_of(const Topology& topology,
                                               const RemoteDigest& digest);

}  // namespace starling
