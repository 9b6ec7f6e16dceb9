// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "topology/topology.h"
#include "topology/type_price.h"

namespace starling {

/// Whether prices differ by so little that no policy would choose another way: they move at every
/// division. A type more or less is another price.
[[nodiscard]] inline bool same_prices(std::span<const TypePrice> a, std::span<const TypePrice> b) {
  constexpr float kMoves = 0.25F;
  return std::ranges::equal(a, b, [](const TypePrice& x, const TypePrice& y) {
    return x.type == y.type && std::abs(x.value - y.value) <= kMoves * std::max(x.value, y.value);
  });
}

}  // namespace starling
