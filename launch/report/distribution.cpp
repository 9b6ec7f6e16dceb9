// SPDX-License-Identifier: Apache-2.0
#include "launch/report/distribution.h"

#include <algorithm>

namespace starling {

std::vector<std::pair<double, double>> distribution(std::vector<double> sample,
                                                    std::size_t points) {
  std::sort(sample.begin(), sample.end());
  std::vector<std::pair<double, double>> curve;
  const std::size_t n = sample.size(), count = std::min(points, n);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * n / count;  // 1 to n
    curve.emplace_back(sample[rank - 1], static_cast<double>(rank) / static_cast<double>(n));
  }
  return curve;
}

}  // namespace starling
