// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "policies/programs/lp.h"

namespace starling {

/// How far to search.
struct IntegerSearch {
  double gap = 0;  ///< part of the best gain by which the answer's may fall short of it
  std::uint32_t nodes = 10'000;  ///< of branch and bound; with a bound on time runs would differ
};

struct IntegerAnswer {
  std::vector<double> values;  ///< of the variables; whole ones are whole numbers exactly
  bool proven = false;  ///< within the gap of the best; false: that is not known of it, since
                        ///< the nodes ran out or not all variables were searched
};

/// Variables of a program all of which are searched. Of a larger one they are those by which the
/// optimum without whole numbers loses least (a core, as in knapsack problems: Balas and Zemel
/// 1980); the others stay as they are in it. A node's time goes with the variables that are
/// searched, and with a bound on nodes a core's answer is better than that of all:
/// docs/results/sia.md.
inline constexpr std::size_t kMostSearchedWhole = 800;

/// The program with its `whole` variables as whole numbers, by branch and cut. Deterministic.
/// `conflict`: no whole numbers satisfy all rows; `invalid`: the gain is unbounded; `busy`: the
/// nodes ran out before an answer was found, or the solver gave up.
[[nodiscard]] Result<IntegerAnswer> solve_integer(const LinearProgram& program,
                                                  const IntegerSearch& search);

}  // namespace starling
