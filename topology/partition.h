// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// What one agent owns: consecutive servers, hence consecutive GPUs.
struct Partition {
  PartitionId id;
  IndexRange servers;
  IndexRange gpus;
};

/// Cuts the data centre into `count` partitions, in depth-first order. Borders fall between racks
/// that are not of one scale-up domain (between pods if that is as even) wherever that keeps every
/// partition within 10 % of its even share of GPUs, otherwise between servers; among equally even
/// cuts the one that crosses the fewest Gbit/s wins. `invalid` if count is 0 or exceeds the number
/// of servers with GPUs.
[[nodiscard]] Result<std::vector<Partition>> partition(const Topology& topology,
                                                       std::uint32_t count);

}  // namespace starling
