// SPDX-License-Identifier: Apache-2.0
#include "sim/published/openb/openb_curve.h"

#include <cmath>
#include <limits>

namespace starling {

std::vector<double> allocation_curve(std::span<const PackEvent> events,
                                     std::int64_t cluster_gpu_milli, std::size_t points) {
  std::vector<double> sums(points, 0);
  std::vector<std::uint32_t> pods(points, 0);
  const auto all = static_cast<double>(cluster_gpu_milli);
  for (const PackEvent& event : events) {
    const double asked = static_cast<double>(event.arrived_gpu_milli) * 100 / all;
    const auto at = static_cast<std::size_t>(std::nearbyint(asked));
    if (at >= points) continue;
    const double held = static_cast<double>(event.allocated_gpu_milli) * 10'000 / all;
    sums[at] += std::nearbyint(held) / 100;
    ++pods[at];
  }
  for (std::size_t i = 0; i < points; ++i)
    sums[i] = pods[i] > 0 ? sums[i] / pods[i] : std::numeric_limits<double>::quiet_NaN();
  return sums;
}

}  // namespace starling
