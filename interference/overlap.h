// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace starling {

/// Seconds of two activities of which parts run at the same time: (a^gamma + b^gamma)^(1/gamma),
/// which is their sum at gamma = 1 and goes to the longer one as gamma grows (Pollux, OSDI 2021).
/// Neither below 0, gamma at least 1.
[[nodiscard]] inline double overlapped(double a, double b, double gamma) noexcept {
  if (gamma == 2) return std::sqrt(a * a + b * b);
  const double high = std::max(a, b);
  const double low = std::min(a, b);
  // high * (1 + (low/high)^gamma)^(1/gamma): no overflow for large gamma.
  return low <= 0 ? high : high * std::pow(1 + std::pow(low / high, gamma), 1 / gamma);
}

}  // namespace starling
