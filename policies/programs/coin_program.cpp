// SPDX-License-Identifier: Apache-2.0
#include "policies/programs/coin_program.h"

#include <CoinFinite.hpp>
#include <algorithm>
#include <cstdint>

namespace starling {
namespace {

double bound(double x) { return std::clamp(x, -COIN_DBL_MAX, COIN_DBL_MAX); }

}  // namespace

CoinProgram::CoinProgram(const LinearProgram& program) : low(program.variables.size(), 0.0) {
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> coefficients;
  for (const LinearProgram::Row& row : program.rows) {
    for (const auto& [variable, coefficient] : row.terms) {
      rows.push_back(static_cast<int>(row_low.size()));
      columns.push_back(static_cast<int>(variable));
      coefficients.push_back(coefficient);
    }
    row_low.push_back(bound(row.low));
    row_high.push_back(bound(row.high));
  }
  for (const LinearProgram::Variable& variable : program.variables) {
    high.push_back(bound(variable.most));
    cost.push_back(-variable.gain);
  }
  matrix = CoinPackedMatrix(false, rows.data(), columns.data(), coefficients.data(),
                            static_cast<CoinBigIndex>(rows.size()));
  matrix.setDimensions(static_cast<int>(row_low.size()), static_cast<int>(high.size()));
}

}  // namespace starling
