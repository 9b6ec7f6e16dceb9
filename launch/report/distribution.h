// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace starling {

/// The distribution of a sample as at most `points` points (value, share of the sample that is no
/// larger), ascending; the last is (largest, 1). Empty for an empty sample.
[[nodiscard]] std::vector<std::pair<double, double>> distribution(std::vector<double> sample,
                                                                  std::size_t points);

}  // namespace starling
