// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CoinPackedMatrix.hpp>
#include <vector>

#include "policies/programs/lp.h"

namespace starling {

/// A LinearProgram as the COIN-OR solvers take it: what they minimise is the gain with its sign
/// turned. Only for files that may see their headers (policies/CMakeLists.txt).
struct CoinProgram {
  explicit CoinProgram(const LinearProgram& program);

  CoinPackedMatrix matrix;
  std::vector<double> low, high, cost;    ///< of each variable
  std::vector<double> row_low, row_high;  ///< of each row
};

}  // namespace starling
