// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.h"

namespace starling {

/// What a partition has now of one GPU type.
struct TypeRoom {
  GpuTypeId type;
  std::uint32_t free = 0;     ///< GPUs with no job on them
  std::uint32_t largest = 0;  ///< of those, the most that one server has
  std::uint32_t open = 0;     ///< GPUs with one job that another may join
  friend bool operator==(const TypeRoom&, const TypeRoom&) = default;
};

/// Bounds of what a partition says of itself.
constexpr std::size_t kMostTypeRooms = 64, kMostSummary = 64;

}  // namespace starling
