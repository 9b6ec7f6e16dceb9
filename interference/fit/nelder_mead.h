// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace starling {

/// A point and the function's value there.
struct Minimum {
  std::vector<double> at;
  double value = 0;
};

/// Nelder and Mead's simplex search (1965) from `start`, whose other corners lie `step` away along
/// each axis: no derivatives, no randomness, so equal calls give equal answers. Starts again from
/// its best point `rounds` times with a fresh simplex, which frees one that has collapsed. A local
/// minimum; call it from several starts where there may be more.
[[nodiscard]] Minimum minimize(const std::function<double(const std::vector<double>&)>& function,
                               const std::vector<double>& start, double step,
                               std::uint32_t evaluations, std::uint32_t rounds);

}  // namespace starling
