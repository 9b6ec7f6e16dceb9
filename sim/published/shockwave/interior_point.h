// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"

namespace starling {

/// Minimise cost * x, where terms * x <= high in every row. Variables are free.
struct InequalityProgram {
  struct Row {
    std::vector<std::pair<std::uint32_t, double>> terms;  ///< variable, coefficient; each once
    double high = 0;
  };
  std::vector<double> cost;  ///< of each variable
  std::vector<Row> rows;
};

/// The best point that the homogeneous self-dual embedding with Mehrotra's predictor and corrector
/// ends at (Domahidi, Chu, Boyd: ECOS, ECC 2013, for linear rows alone). Where many points are
/// best, published schedules depend on which one a solver takes: those that were computed with ECOS
/// took this one, to about 1e-9; that the simplex method or another interior-point method takes is
/// as good, and gives other schedules. For some hundred variables; dense. Deterministic.
/// `busy`: it did not converge, which it does not where no point satisfies all rows.
[[nodiscard]] Result<std::vector<double>> embedded_optimum(const InequalityProgram& program);

}  // namespace starling
