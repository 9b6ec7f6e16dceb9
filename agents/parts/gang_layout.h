// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/message.h"
#include "topology/topology.h"

namespace starling {

/// The workers of a gang on one server.
struct GangPart {
  ServerId server;
  Placement gpus;
  std::uint32_t first_rank = 0;
  std::uint32_t workers = 1;
};

/// A gang server by server, in GPU order, whatever the order of its shares. A server contributes
/// its GPUs / gpus_per_worker workers, rounded up; ranks count them without gaps, so the last
/// part's first_rank + workers is the world size. All nodes that look at the same gang see the
/// same ranks. The GPUs must exist.
[[nodiscard]] std::vector<GangPart> gang_layout(std::span<const Share> gang,
                                                std::uint32_t gpus_per_worker,
                                                const Topology& topology);

}  // namespace starling
