// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace starling {

struct PlanBox {
  double x = 0, y = 0, w = 0, h = 0;
};

/// Where each rack, server and GPU of a data centre is in a picture; in units of which a GPU has
/// kGpuSide. Racks stand in their order, row after row; servers one below another, in several
/// columns where a rack has many; a server's GPUs in lines of eight.
struct FloorPlan {
  static constexpr double kGpuSide = 10;
  double width = 0, height = 0;
  std::vector<std::uint32_t> racks;  ///< indices into Topology::subtrees(), those with GPUs
  std::vector<PlanBox> rack_boxes;   ///< by `racks`; the name stands in the topmost 12 units
  std::vector<PlanBox> servers;      ///< by server; of no size where it has no GPUs
  std::vector<PlanBox> gpus;         ///< by GPU
};

/// As large as fits best where pictures are `aspect` times as wide as they are high.
[[nodiscard]] FloorPlan floor_plan(const Topology& topology, double aspect);

}  // namespace starling
