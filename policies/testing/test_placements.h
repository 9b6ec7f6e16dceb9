// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"

namespace starling {

// For tests: placements as people say them.

/// GPUs `first` to `last` - 1.
inline Placement range(std::uint32_t first, std::uint32_t last) {
  Placement out;
  for (std::uint32_t i = first; i < last; ++i) out.push_back(GpuId{i});
  return out;
}
inline Placement operator+(Placement a, const Placement& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace starling
