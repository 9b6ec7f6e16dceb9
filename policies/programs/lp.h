// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace starling {

/// Maximise gain * x, where low <= row * x <= high for every row, and 0 <= x <= most.
struct LinearProgram {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Variable {
    double gain = 0;
    double most = kInfinity;
    bool whole = false;  ///< a whole number; solve_integer() alone heeds it
  };
  struct Row {
    std::vector<std::pair<std::uint32_t, double>> terms;  ///< variable, coefficient; each once
    double low = -kInfinity;
    double high = kInfinity;
  };
  std::vector<Variable> variables;
  std::vector<Row> rows;
};

/// Which of several best points. corner: by the simplex method. middle: by an interior-point
/// method, so that what the objective leaves open is shared out rather than given to one.
enum class LpPoint : std::uint8_t { corner, middle };

/// The values of the variables. Deterministic. `conflict`: nothing satisfies all rows; `invalid`:
/// the gain is unbounded; `busy`: the solver gave up.
[[nodiscard]] Result<std::vector<double>> solve_lp(const LinearProgram& program, LpPoint point);

}  // namespace starling
