// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "topology/topology.h"

namespace starling {

/// For each server, its even share in Gbit/s of what leaves its rack: the links from the switches
/// it is plugged into to other switches, divided among all servers on those switches. Infinite
/// where no such link is known.
[[nodiscard]] std::vector<double> uplink_share_gbps(const Topology& topology);

}  // namespace starling
