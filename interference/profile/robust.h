// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace starling {

/// A median and what it may be.
struct Estimate {
  struct Range {
    double low = 0, high = 0;
  };
  double median = 0;  ///< 0 where n is 0
  /// Two of the values, which enclose the true median with at least 95 % whatever the distribution
  /// is. Nothing below 6 values: then not even the smallest and the largest do.
  std::optional<Range> interval;
  std::size_t n = 0;
};
[[nodiscard]] Estimate robust_estimate(std::vector<double> values);

/// How many values at either end lie outside of the interval of n values; nothing below 6.
[[nodiscard]] std::optional<std::size_t> interval_cut(std::size_t n);

}  // namespace starling
