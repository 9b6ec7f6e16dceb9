// SPDX-License-Identifier: Apache-2.0
#include "policies/programs/lp.h"

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <algorithm>
#include <cmath>

#include "policies/programs/coin_program.h"

namespace starling {
namespace {

void load(const LinearProgram& program, ClpSimplex& solver) {
  const CoinProgram coin(program);
  solver.loadProblem(coin.matrix, coin.low.data(), coin.high.data(), coin.cost.data(),
                     coin.row_low.data(), coin.row_high.data());
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
