// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/lp.h"

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinPackedMatrix.hpp>
#include <algorithm>
#include <cmath>

namespace starling {
namespace {

double bound(double x) { return std::clamp(x, -COIN_DBL_MAX, COIN_DBL_MAX); }

void load(const LinearProgram& program, ClpSimplex& solver) {
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> coefficients;
  std::vector<double> row_low;
  std::vector<double> row_high;
  for (const LinearProgram::Row& row : program.rows) {
    for (const auto& [variable, coefficient] : row.terms) {
      rows.push_back(static_cast<int>(row_low.size()));
      columns.push_back(static_cast<int>(variable));
      coefficients.push_back(coefficient);
    }
    row_low.push_back(bound(row.low));
    row_high.push_back(bound(row.high));
  }
  const std::vector<double> low(program.variables.size(), 0.0);
  std::vector<double> high;
  std::vector<double> cost;
  for (const LinearProgram::Variable& variable : program.variables) {
    high.push_back(bound(variable.most));
    cost.push_back(-variable.gain);
  }
  CoinPackedMatrix matrix(false, rows.data(), columns.data(), coefficients.data(),
                          static_cast<CoinBigIndex>(rows.size()));
  matrix.setDimensions(static_cast<int>(row_low.size()), static_cast<int>(high.size()));
  solver.loadProblem(matrix, low.data(), high.data(), cost.data(), row_low.data(), row_high.data());
}

/// Clp's status: 0 optimal, 1 infeasible, 2 unbounded, anything else gave up.
int run(ClpSimplex& solver, LpPoint point) {
  solver.setLogLevel(0);
  if (point == LpPoint::corner) {
    solver.dual();
    return solver.status();
  }
  ClpSolve options;
  options.setSolveType(ClpSolve::useBarrierNoCross);
  options.setPresolveType(ClpSolve::presolveOff);
  solver.initialSolve(options);
  return solver.status();
}

bool satisfies(const LinearProgram& program, const ClpSimplex& solver) {
  const double* x = solver.primalColumnSolution();
  return std::all_of(program.rows.begin(), program.rows.end(), [&](const LinearProgram::Row& row) {
    double sum = 0;
    double scale = 1;
    for (const auto& [variable, coefficient] : row.terms) {
      sum += coefficient * x[variable];
      scale = std::max(scale, std::abs(coefficient * x[variable]));
    }
    const double slack = 1e-6 * scale;
    return sum >= row.low - slack && sum <= row.high + slack;
  });
}

}  // namespace

Result<std::vector<double>> solve_lp(const LinearProgram& program, LpPoint point) {
  ClpSimplex solver;
  load(program, solver);
  int status = run(solver, point);
  if (point == LpPoint::middle && (status != 0 || !satisfies(program, solver))) {
    // The interior-point method cannot tell what is infeasible from what it cannot solve.
    load(program, solver);
    status = run(solver, LpPoint::corner);
  }
  if (status == 1) return Error{Errc::conflict, "the linear program has no solution"};
  if (status == 2) return Error{Errc::invalid, "the linear program is unbounded"};
  if (status != 0) return Error{Errc::busy, "the linear program could not be solved"};
  const double* x = solver.primalColumnSolution();
  std::vector<double> out(x, x + program.variables.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::clamp(out[i], 0.0, program.variables[i].most);
  }
  return out;
}

}  // namespace starling
