// SPDX-License-Identifier: Apache-2.0
#include "policies/programs/integer.h"

#include <CbcHeuristic.hpp>
#include <CbcModel.hpp>
#include <CglGomory.hpp>
#include <CglKnapsackCover.hpp>
#include <CglProbing.hpp>
#include <CoinError.hpp>
#include <OsiClpSolverInterface.hpp>
#include <algorithm>
#include <cmath>

#include "policies/programs/coin_program.h"

namespace starling {
namespace {

constexpr int kRootOnly = -99;  // Cbc's word for cuts that are made at the root alone

void load(const LinearProgram& program, OsiClpSolverInterface& solver) {
  solver.setHintParam(OsiDoReducePrint, true, OsiHintTry);
  solver.messageHandler()->setLogLevel(0);
  const CoinProgram coin(program);
  solver.loadProblem(coin.matrix, coin.low.data(), coin.high.data(), coin.cost.data(),
                     coin.row_low.data(), coin.row_high.data());
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    if (program.variables[i].whole) solver.setInteger(static_cast<int>(i));
  }
}

void add_cuts(CbcModel& model) {
  CglProbing probing;
  CglKnapsackCover covers;
  CglGomory gomory;
  model.addCutGenerator(&probing, kRootOnly, "probing");
  model.addCutGenerator(&covers, kRootOnly, "covers");
  model.addCutGenerator(&gomory, kRootOnly, "gomory");
}

Result<IntegerAnswer> answer_of(const LinearProgram& program, const CbcModel& model) {
  const double* x = model.bestSolution();
  if (x == nullptr) {
    if (model.isProvenInfeasible())
      return Error{Errc::conflict, "the program has no solution in whole numbers"};
    return Error{Errc::busy, "no solution of the program in whole numbers was found"};
  }
  IntegerAnswer answer{{x, x + program.variables.size()}, model.isProvenOptimal()};
  for (std::size_t i = 0; i < answer.values.size(); ++i) {
    const LinearProgram::Variable& variable = program.variables[i];
    double& value = answer.values[i];
    value = std::clamp(variable.whole ? std::round(value) : value, 0.0, variable.most);
  }
  return answer;
}

Result<IntegerAnswer> search_tree(const LinearProgram& program, const IntegerSearch& search) {
  OsiClpSolverInterface relaxed;
  load(program, relaxed);
  relaxed.initialSolve();
  if (relaxed.isProvenPrimalInfeasible())
    return Error{Errc::conflict, "the program has no solution"};
  if (relaxed.isProvenDualInfeasible()) return Error{Errc::invalid, "the program is unbounded"};

  CbcModel model(relaxed);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.setAllowableFractionGap(search.gap);
  model.setMaximumNodes(static_cast<int>(std::clamp(search.nodes, 1U, 1'000'000'000U)));
  add_cuts(model);
  CbcRounding rounding(model);
  model.addHeuristic(&rounding);
  model.branchAndBound();
  return answer_of(program, model);
}

}  // namespace

Result<IntegerAnswer> solve_integer(const LinearProgram& program, const IntegerSearch& search) {
  try {
    return search_tree(program, search);
  } catch (const CoinError& error) {
    return Error{Errc::busy, "the program could not be solved: " + error.message()};
  }
}

}  // namespace starling
