// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia_program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/rng.h"

namespace starling {
namespace {

using Choice = SiaProblem::Choice;
using Row = SiaProblem::Row;

constexpr double kWorst = 1e300;

double cost_of(const SiaProblem& problem, const SiaObjective& objective,
               const std::vector<std::optional<std::size_t>>& taken) {
  double cost = 0;
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    cost += taken[i] ? sia_cost(problem.rows[i], *taken[i], objective) : objective.idle;
  return cost;
}

/// Calls `visit` with every way to give each row one of its choices or none that there are GPUs
/// for.
void try_all(const SiaProblem& problem,
             const std::function<void(const std::vector<std::optional<std::size_t>>&)>& visit) {
  std::vector<std::optional<std::size_t>> taken(problem.rows.size());
  std::vector<SiaProblem::Type> left = problem.types;
  const std::function<void(std::size_t)> go = [&](std::size_t i) {
    if (i == problem.rows.size()) return visit(taken);
    taken[i].reset();
    go(i + 1);
    const Row& row = problem.rows[i];
    for (std::size_t c = 0; c < row.choices.size(); ++c) {
      SiaProblem::Type& type = left[row.choices[c].type];
      const std::uint32_t gpus = row.choices[c].gpus;
      const Demand all{row.each.cpus * gpus, row.each.memory * gpus};
      if (gpus > type.gpus || (type.counts_cpus && all.cpus > type.beside.cpus) ||
          (type.counts_memory && all.memory > type.beside.memory))
        continue;
      const SiaProblem::Type before = type;
      type.gpus -= gpus;
      type.beside.cpus -= all.cpus;
      type.beside.memory -= all.memory;
      taken[i] = c;
      go(i + 1);
      type = before;
      taken[i].reset();
    }
  };
  go(0);
}

double best_by_trying(const SiaProblem& problem, const SiaObjective& objective) {
  double best = kWorst;
  try_all(problem,
          [&](const auto& taken) { best = std::min(best, cost_of(problem, objective, taken)); });
  return best;
}

/// Up to six jobs of up to four sizes on one or two types; some run, some are like others, some
/// need CPUs.
SiaProblem random_problem(Rng& rng) {
  SiaProblem problem;
  const std::uint32_t types = 1 + rng.below(2);
  const bool counts = rng.chance(0.3);
  for (std::uint32_t t = 0; t < types; ++t)
    problem.types.push_back({1 + rng.below(12), {rng.below(30) * 1'000'000, 0}, counts, false});
  const std::uint32_t jobs = 1 + rng.below(6);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    if (i > 0 && rng.chance(0.2)) {
      problem.rows.push_back(problem.rows.back());
      continue;
    }
    Row row;
    row.least = 1U << rng.below(2);
    if (rng.chance(0.3)) row.each.cpus = (1 + rng.below(4)) * 1'000'000;
    const double flat = 0.5 + 0.5 * rng.uniform();
    for (std::uint32_t t = 0; t < types; ++t) {
      const double speed = 0.5 + rng.uniform();
      for (std::uint32_t gpus = row.least, n = 1 + rng.below(4); n > 0; --n, gpus *= 2)
        row.choices.push_back({t, gpus, speed * std::pow(gpus, flat)});
    }
    if (rng.chance(0.4)) {
      row.now = rng.below(static_cast<std::uint32_t>(row.choices.size()));
      row.restart = rng.uniform();
    }
    problem.rows.push_back(std::move(row));
  }
  return problem;
}

void check_fits(const SiaProblem& problem, const SiaAnswer& answer) {
  std::vector<SiaProblem::Type> left = problem.types;
  REQUIRE(answer.taken.size() == problem.rows.size());
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    if (!answer.taken[i]) continue;
    const Choice& choice = problem.rows[i].choices.at(*answer.taken[i]);
    REQUIRE(choice.gpus <= left[choice.type].gpus);
    left[choice.type].gpus -= choice.gpus;
  }
}

TEST_CASE("the program gives what trying everything gives") {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    const SiaProblem problem = random_problem(rng);
    for (const SiaObjective objective : {SiaObjective{}, SiaObjective{-1, 2}}) {
      const SiaAnswer answer = solve_sia(problem, objective).value();
      check_fits(problem, answer);
      CHECK(answer.proven);
      const double found = cost_of(problem, objective, answer.taken);
      const double most = objective.idle * static_cast<double>(problem.rows.size());
      CHECK(found - best_by_trying(problem, objective) <= kSiaGap * most + 1e-9);
    }
  }
}

TEST_CASE("what a choice costs is its speed in that of the smallest, less what a restart takes") {
  Row row{{{0, 1, 10}, {0, 4, 40}, {1, 1, 20}}, std::nullopt, 0.25, 1, {}, 0};
  CHECK(sia_cost(row, 0, {}) == doctest::Approx(1));
  CHECK(sia_cost(row, 1, {}) == doctest::Approx(0.5));
  CHECK(sia_cost(row, 2, {}) == doctest::Approx(std::sqrt(0.5)));
  CHECK(sia_cost(row, 1, {-1, 1.1}) == doctest::Approx(0.25));
  row.now = 0;
  CHECK(sia_cost(row, 0, {}) == doctest::Approx(1));
  CHECK(sia_cost(row, 1, {}) == doctest::Approx(1));
  row.restart = 0;
  CHECK(sia_cost(row, 1, {}) == kMostSiaCost);
  const Row rigid{{{0, 16, 3}, {1, 16, 6}}, std::nullopt, 1, 16, {}, 0};
  CHECK(sia_cost(rigid, 0, {}) == doctest::Approx(0.25));
  CHECK(sia_cost(rigid, 1, {}) == doctest::Approx(std::sqrt(1 / 32.0)));
}

TEST_CASE("the more urgent go first, and of equal ones those that came first") {
  const Row small{{{0, 4, 1}}, std::nullopt, 1, 1, {}, 0};
  Row large{{{0, 4, 1}, {0, 8, 50}}, std::nullopt, 1, 1, {}, 0};
  SiaProblem problem{{{8, {}, false, false}}, {small, small, small, large}};
  // Alone the large one costs 1.1 - 0.14 less than nothing, and two small ones 0.2.
  CHECK(solve_sia(problem, {}).value().taken[3] == 1);
  problem.rows[3].priority = -1;
  const SiaAnswer answer = solve_sia(problem, {}).value();
  CHECK(answer.taken == std::vector<std::optional<std::size_t>>{0, 0, std::nullopt, std::nullopt});
}

TEST_CASE("where the solver gives up, so does the program") {
  const SiaProblem problem{{{8, {}, false, false}}, {{{{0, 4, 1}}, std::nullopt, 1, 1, {}, 0}}};
  const auto answer = solve_sia(problem, {}, [](const LinearProgram&, const IntegerSearch&) {
    return Result<IntegerAnswer>(Errc::busy, "the nodes ran out");
  });
  REQUIRE(!answer.ok());
  CHECK(answer.error().message == "the nodes ran out");
}

/// Pollux' objective (OSDI 2021, section 4.2): the power mean of speedups over a fair share, which
/// is as many GPUs for everybody; near power 0, where the unit in which a job's goodput is counted
/// does not matter, the geometric mean.
double pollux_fitness(const SiaProblem& problem,
                      const std::vector<std::optional<std::size_t>>& taken) {
  double logs = 0;
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    if (!taken[i]) return -kWorst;
    logs += std::log(problem.rows[i].choices[*taken[i]].goodput);
  }
  return logs;
}

TEST_CASE(
    "near p = 0 on one type jobs get the GPUs that Pollux' objective gives, but for one each") {
  Rng rng(4);
  for (int round = 0; round < 100; ++round) {
    SiaProblem problem{{{4 + rng.below(5), {}, false, false}}, {}};
    for (std::uint32_t jobs = 2 + rng.below(3); jobs > 0; --jobs) {
      Row row;
      const double flat = 0.3 + 0.7 * rng.uniform();
      for (std::uint32_t gpus = 1; gpus <= 4; ++gpus)
        row.choices.push_back({0, gpus, std::pow(gpus, flat)});
      problem.rows.push_back(std::move(row));
    }
    // Pollux may give any number of GPUs, Sia powers of two.
    std::vector<std::optional<std::size_t>> pollux;
    double fittest = -kWorst;
    try_all(problem, [&](const auto& taken) {
      const double fitness = pollux_fitness(problem, taken);
      if (fitness > fittest + 1e-12) fittest = fitness, pollux = taken;
    });
    SiaProblem powers = problem;
    for (Row& row : powers.rows) row.choices.erase(row.choices.begin() + 2);
    const SiaAnswer sia = solve_sia(powers, {-0.01, 2}).value();
    for (std::size_t i = 0; i < problem.rows.size(); ++i) {
      REQUIRE(sia.taken[i]);
      const auto gpus = static_cast<int>(powers.rows[i].choices[*sia.taken[i]].gpus);
      CHECK(std::abs(gpus - static_cast<int>(problem.rows[i].choices[*pollux[i]].gpus)) <= 1);
    }
  }
}

}  // namespace
}  // namespace starling
