// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "topology/occupancy.h"

namespace starling {

/// Sizes of a partition that do not change.
struct Shape {
  std::uint32_t gpus = 0;
  std::uint32_t server = 0;  ///< GPUs of the commonest kind of server; ties to the larger
  std::uint32_t largest_server = 0;
};
[[nodiscard]] Shape shape_of(const Occupancy& gpus);

}  // namespace starling
