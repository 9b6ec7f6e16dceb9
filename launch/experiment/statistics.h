// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace starling {

/// The quantile of Student's t distribution with `degrees` >= 1 degrees of freedom at `share`,
/// 0 < share < 1.
[[nodiscard]] double t_quantile(double share, std::size_t degrees);

/// A mean and the half width of its 95 % interval by Student's t; 0 where n < 2: unknown.
struct Interval {
  double mean = 0;
  double half = 0;
  std::size_t n = 0;
};
[[nodiscard]] Interval interval95(std::span<const double> sample);

/// The middle value, or the mean of the two; 0 for none.
[[nodiscard]] double median(std::vector<double> sample);

}  // namespace starling
