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
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policies/programs/coin_program.h"

namespace starling {
namespace {

constexpr std::ptrdiff_t kCoreVariables = 400;
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

/// The relaxed optimum, if it is one in whole numbers already.
std::optional<IntegerAnswer> whole_already(const LinearProgram& program,
                                           const OsiClpSolverInterface& relaxed) {
  constexpr double kWhole = 1e-9;
  const double* x = relaxed.getColSolution();
  IntegerAnswer answer{{x, x + program.variables.size()}, true};
  for (std::size_t i = 0; i < answer.values.size(); ++i) {
    double& value = answer.values[i];
    if (!program.variables[i].whole) continue;
    if (std::abs(value - std::round(value)) > kWhole) return std::nullopt;
    value = std::clamp(std::round(value), 0.0, program.variables[i].most);
  }
  return answer;
}

Result<IntegerAnswer> branch_and_cut(const LinearProgram& program,
                                     const OsiClpSolverInterface& relaxed,
                                     const IntegerSearch& search) {
  if (auto whole = whole_already(program, relaxed)) return *std::move(whole);
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

Result<OsiClpSolverInterface> relax(const LinearProgram& program) {
  OsiClpSolverInterface relaxed;
  load(program, relaxed);
  relaxed.initialSolve();
  if (relaxed.isProvenPrimalInfeasible())
    return Error{Errc::conflict, "the program has no solution"};
  if (relaxed.isProvenDualInfeasible()) return Error{Errc::invalid, "the program is unbounded"};
  return relaxed;
}

double gain_of(const LinearProgram& program, const std::vector<double>& values) {
  double gain = 0;
  for (std::size_t i = 0; i < values.size(); ++i) gain += program.variables[i].gain * values[i];
  return gain;
}

/// What the relaxed optimum loses at least for each unit by which a variable leaves its bound
/// there;
/// 0 where it is not at a bound, or is no whole number.
std::vector<double> losses_of(const LinearProgram& program, const OsiClpSolverInterface& relaxed) {
  constexpr double kAtBound = 1e-9;
  std::vector<double> losses(program.variables.size());
  const double* x = relaxed.getColSolution();
  const double* reduced = relaxed.getReducedCost();
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const LinearProgram::Variable& variable = program.variables[i];
    const double bound = std::round(x[i]);
    const bool at_bound = bound == 0 || bound == variable.most;
    if (variable.whole && at_bound && std::abs(x[i] - bound) <= kAtBound)
      losses[i] = std::abs(reduced[i]);
  }
  return losses;
}

/// What is searched where some variables of a program stay as they are.
struct Rest {
  LinearProgram program;
  std::vector<double> values;         // of all variables: those of the ones that stay
  std::vector<std::uint32_t> others;  // whose values are those of `program`
};

/// Those that lose more than `most` stay as in the relaxed optimum.
Rest rest_of(const LinearProgram& program, const std::vector<double>& losses, double most,
             const OsiClpSolverInterface& relaxed) {
  Rest rest;
  rest.values.resize(losses.size());
  std::vector<std::optional<std::uint32_t>> index(losses.size());
  for (std::uint32_t i = 0; i < losses.size(); ++i) {
    if (losses[i] > most) {
      rest.values[i] = std::round(relaxed.getColSolution()[i]);
      continue;
    }
    index[i] = static_cast<std::uint32_t>(rest.others.size());
    rest.others.push_back(i);
    rest.program.variables.push_back(program.variables[i]);
  }
  for (const LinearProgram::Row& row : program.rows) {
    LinearProgram::Row less{{}, row.low, row.high};
    for (const auto& [variable, coefficient] : row.terms) {
      if (index[variable]) {
        less.terms.emplace_back(*index[variable], coefficient);
      } else {
        less.low -= coefficient * rest.values[variable];
        less.high -= coefficient * rest.values[variable];
      }
    }
    if (!less.terms.empty()) rest.program.rows.push_back(std::move(less));
  }
  return rest;
}

Result<IntegerAnswer> search_rest(Rest rest, const IntegerSearch& search) {
  const auto relaxed = relax(rest.program);
  if (!relaxed) return relaxed.error();
  auto found = branch_and_cut(rest.program, relaxed.value(), search);
  if (!found) return found;
  for (std::size_t i = 0; i < rest.others.size(); ++i)
    rest.values[rest.others[i]] = found.value().values[i];
  found.value().values = std::move(rest.values);
  return found;
}

/// The best of the variables by which the relaxed optimum loses least, the others as they are
/// there.
Result<IntegerAnswer> search_core(const LinearProgram& program,
                                  const OsiClpSolverInterface& relaxed,
                                  const IntegerSearch& search) {
  const std::vector<double> losses = losses_of(program, relaxed);
  std::vector<double> sorted = losses;
  std::ranges::nth_element(sorted, sorted.begin() + kCoreVariables);
  auto core = search_rest(rest_of(program, losses, sorted[kCoreVariables], relaxed), search);
  if (!core) return branch_and_cut(program, relaxed, search);
  const double most = -relaxed.getObjValue(), found = gain_of(program, core.value().values);
  core.value().proven = most - found <= search.gap * std::abs(most);
  return core;
}

Result<IntegerAnswer> search_tree(const LinearProgram& program, const IntegerSearch& search) {
  const auto relaxed = relax(program);
  if (!relaxed) return relaxed.error();
  if (program.variables.size() > kMostSearchedWhole)
    return search_core(program, relaxed.value(), search);
  return branch_and_cut(program, relaxed.value(), search);
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
