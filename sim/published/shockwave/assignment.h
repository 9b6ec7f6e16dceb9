// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace starling {

/// A column of its own for each row, so that the sum of costs is as small as it can be, by shortest
/// augmenting paths (Crouse: On implementing 2D rectangular assignment algorithms, 2016). No more
/// rows than columns; equal numbers of costs in each row. Among equal sums it is the one that
/// SciPy 1.5's linear_sum_assignment gives, on which published schedules of AlloX depend: rows in
/// turn, columns from the last to the first, a free one before one that is taken.
[[nodiscard]] std::vector<std::size_t> least_assignment(
    const std::vector<std::vector<double>>& cost);

}  // namespace starling
