// SPDX-License-Identifier: Apache-2.0
#include "topology/shape.h"

namespace starling {

Shape shape_of(const Occupancy& gpus) {
  Shape shape;
  shape.gpus = gpus.gpus().size();
  std::uint32_t most = 1;
  for (std::uint32_t size = 1; size < gpus.sizes().size(); ++size) {
    const std::uint32_t servers = gpus.sizes()[size];
    if (servers > 0) shape.largest_server = size;
    if (servers < most) continue;
    most = servers;
    shape.server = size;
  }
  return shape;
}

}  // namespace starling
