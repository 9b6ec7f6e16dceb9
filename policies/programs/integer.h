// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  bool proven = false;         ///< within the gap of the best; false: the nodes ran out before, and
                               ///< this is the best that had been found
};

/// The program with its `whole` variables as whole numbers, by branch and cut. Deterministic.
/// `conflict`: no whole numbers satisfy all rows; `invalid`: the gain is unbounded; `busy`: the
/// nodes ran out before an answer was found, or the solver gave up.
[[nodiscard]] Result<IntegerAnswer> solve_integer(const LinearProgram& program,
                                                  const IntegerSearch& search);

}  // namespace starling
