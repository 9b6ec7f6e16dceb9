// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "topology/occupancy.h"
#include "topology/topology.h"

namespace starling {

/// Servers that the GPUs, in ascending order, lie on.
[[nodiscard]] inline std::uint32_t server_count(const Topology& topology,
                                                const Placement& placement) {
  std::uint32_t servers = 0;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    const bool same =
        i > 0 && topology.server_of(placement[i]) == topology.server_of(placement[i - 1]);
    if (!same) ++servers;
  }
  return servers;
}

}  // namespace starling
