// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia_program.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace starling {
namespace {

using Row = SiaProblem::Row;
using Choice = SiaProblem::Choice;

constexpr double kMillion = 1e6;  // of the unit of Demand in a CPU and in a GiB

/// Rows that are equal in all but their place.
struct Alike {
  std::vector<std::size_t> rows;
  std::vector<double> costs;  // by choice
};

std::vector<Alike> group(const SiaProblem& problem, std::int32_t priority,
                         const SiaObjective& objective) {
  const auto key = [&](std::size_t i) {
    const Row& row = problem.rows[i];
    std::vector<std::tuple<std::size_t, std::uint32_t, double>> choices;
    for (const Choice& c : row.choices) choices.emplace_back(c.type, c.gpus, c.goodput);
    return std::tuple(std::move(choices), row.now, row.restart, row.least, row.each);
  };
  std::vector<Alike> all;
  std::map<decltype(key(0)), std::size_t> index;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    const Row& row = problem.rows[i];
    if (row.priority != priority || row.choices.empty()) continue;
    const auto [at, fresh] = index.try_emplace(key(i), all.size());
    if (fresh) {
      all.emplace_back();
      for (std::size_t c = 0; c < row.choices.size(); ++c)
        all.back().costs.push_back(sia_cost(row, c, objective));
    }
    all[at->second].rows.push_back(i);
  }
  return all;
}

/// The program of those rows, and whose choice each of its variables is.
struct Program {
  LinearProgram lp;
  std::vector<std::pair<std::size_t, std::size_t>> choices;  // group, choice
};

Program program_of(const SiaProblem& problem, const std::vector<Alike>& groups, double idle) {
  Program out;
  std::vector<LinearProgram::Row> gpus(problem.types.size()), cpus(gpus), memory(gpus);
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    gpus[t].high = problem.types[t].gpus;
    cpus[t].high = static_cast<double>(problem.types[t].beside.cpus) / kMillion;
    memory[t].high = static_cast<double>(problem.types[t].beside.memory) / kMillion;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto count = static_cast<double>(groups[g].rows.size());
    const Row& row = problem.rows[groups[g].rows.front()];
    LinearProgram::Row once;
    once.high = count;
    for (std::size_t c = 0; c < row.choices.size(); ++c) {
      const double gain = idle - groups[g].costs[c];
      if (gain <= 0) continue;
      const auto [type, size, goodput] = row.choices[c];
      const auto variable = static_cast<std::uint32_t>(out.lp.variables.size());
      out.lp.variables.push_back({gain, count, true});
      out.choices.emplace_back(g, c);
      once.terms.emplace_back(variable, 1);
      gpus[type].terms.emplace_back(variable, size);
      const auto need = [&, size = size](std::int64_t each) {
        return static_cast<double>(each) / kMillion * size;
      };
      if (row.each.cpus > 0) cpus[type].terms.emplace_back(variable, need(row.each.cpus));
      if (row.each.memory > 0) memory[type].terms.emplace_back(variable, need(row.each.memory));
    }
    if (!once.terms.empty()) out.lp.rows.push_back(std::move(once));
  }
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    const SiaProblem::Type& type = problem.types[t];
    if (!gpus[t].terms.empty()) out.lp.rows.push_back(std::move(gpus[t]));
    if (type.counts_cpus && !cpus[t].terms.empty()) out.lp.rows.push_back(std::move(cpus[t]));
    if (type.counts_memory && !memory[t].terms.empty()) out.lp.rows.push_back(std::move(memory[t]));
  }
  return out;
}

/// Gives the choices of each group to its rows in turn, the cheapest first.
void hand_out(const std::vector<Alike>& groups, const Program& program,
              const std::vector<double>& values, SiaAnswer& answer) {
  std::vector<std::vector<std::pair<double, std::size_t>>> won(groups.size());  // cost, choice
  for (std::size_t v = 0; v < values.size(); ++v) {
    const auto [g, c] = program.choices[v];
    for (auto n = std::llround(values[v]); n > 0; --n) won[g].emplace_back(groups[g].costs[c], c);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::ranges::sort(won[g]);
    for (std::size_t i = 0; i < won[g].size(); ++i)
      answer.taken[groups[g].rows[i]] = won[g][i].second;
  }
}

void take(SiaProblem& left, const SiaAnswer& answer, std::int32_t priority) {
  for (std::size_t i = 0; i < left.rows.size(); ++i) {
    const Row& row = left.rows[i];
    if (row.priority != priority || !answer.taken[i]) continue;
    const Choice& choice = row.choices[*answer.taken[i]];
    SiaProblem::Type& type = left.types[choice.type];
    type.gpus -= std::min(type.gpus, choice.gpus);
    type.beside.cpus = std::max<std::int64_t>(type.beside.cpus - row.each.cpus * choice.gpus, 0);
    type.beside.memory =
        std::max<std::int64_t>(type.beside.memory - row.each.memory * choice.gpus, 0);
  }
}

}  // namespace

double sia_cost(const Row& row, std::size_t choice, const SiaObjective& objective) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Choice& c : row.choices) lowest = std::min(lowest, c.goodput);
  const double goodput = row.choices[choice].goodput / lowest * row.least;
  const double kept = row.now && *row.now != choice ? row.restart : 1;
  if (!(kept > 0)) return kMostSiaCost;
  return std::min(std::pow(kept * goodput, objective.power), kMostSiaCost);
}

Result<SiaAnswer> solve_sia(const SiaProblem& problem, const SiaObjective& objective,
                            const IntegerSolver& solver) {
  SiaAnswer answer;
  answer.taken.resize(problem.rows.size());
  std::set<std::int32_t, std::greater<>> priorities;
  for (const Row& row : problem.rows) priorities.insert(row.priority);
  SiaProblem left = problem;
  for (const std::int32_t priority : priorities) {
    const std::vector<Alike> groups = group(left, priority, objective);
    const Program program = program_of(left, groups, objective.idle);
    if (program.choices.empty()) continue;
    const auto found = solver(program.lp, {kSiaGap, kSiaNodes});
    if (!found) return found.error();
    answer.proven = answer.proven && found.value().proven;
    hand_out(groups, program, found.value().values, answer);
    take(left, answer, priority);
  }
  return answer;
}

}  // namespace starling
