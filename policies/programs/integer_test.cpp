// SPDX-License-Identifier: Apache-2.0
#include "policies/programs/integer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace starling {
namespace {

constexpr double kInfinity = LinearProgram::kInfinity;

double gain_of(const LinearProgram& program, const std::vector<double>& x) {
  double gain = 0;
  for (std::size_t i = 0; i < x.size(); ++i) gain += program.variables[i].gain * x[i];
  return gain;
}

bool satisfies(const LinearProgram& program, const std::vector<double>& x) {
  for (const LinearProgram::Row& row : program.rows) {
    double sum = 0;
    for (const auto& [variable, coefficient] : row.terms) sum += coefficient * x[variable];
    if (sum < row.low - 1e-9 || sum > row.high + 1e-9) return false;
  }
  return true;
}

/// The best gain over all choices of 0 or 1; -infinity if none satisfies all rows.
double best_by_trying(const LinearProgram& program) {
  const std::size_t n = program.variables.size();
  double best = -kInfinity;
  std::vector<double> x(n);
  for (std::size_t bits = 0; bits < (std::size_t{1} << n); ++bits) {
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>((bits >> i) & 1U);
    if (satisfies(program, x)) best = std::max(best, gain_of(program, x));
  }
  return best;
}

/// Up to ten things to take or leave, up to three limits, some of them from below.
LinearProgram random_program(Rng& rng) {
  LinearProgram program;
  const std::uint64_t n = 1 + rng.below(10);
  for (std::uint64_t i = 0; i < n; ++i)
    program.variables.push_back({static_cast<double>(rng.below(41)) - 10, 1, true});
  for (std::uint64_t r = rng.below(4); r > 0; --r) {
    LinearProgram::Row row;
    double all = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      row.terms.emplace_back(i, static_cast<double>(rng.below(10)));
      all += row.terms.back().second;
    }
    row.high = std::floor(all * rng.uniform());
    if (rng.below(3) == 0) row.low = row.high - static_cast<double>(rng.below(3));
    program.rows.push_back(std::move(row));
  }
  return program;
}

// 5x + 4y, 6x + 5y <= 10: 5/3 at x = 5/3 for fractions, but one x or two y for whole numbers.
TEST_CASE("whole numbers are not the fractions cut off") {
  LinearProgram program;
  program.variables = {{5, 10, true}, {4, 10, true}};
  program.rows = {{{{0, 6}, {1, 5}}, -kInfinity, 10}};
  const auto answer = solve_integer(program, {}).value();
  CHECK(answer.values == std::vector<double>{0, 2});
  CHECK(answer.proven);
}

TEST_CASE("variables that need not be whole are not") {
  LinearProgram program;
  program.variables = {{3, 10, true}, {1, 10, false}};
  program.rows = {{{{0, 2}, {1, 2}}, -kInfinity, 5}};
  const auto answer = solve_integer(program, {}).value();
  CHECK(answer.values[0] == 2);
  CHECK(std::abs(answer.values[1] - 0.5) < 1e-6);
}

TEST_CASE("the answer is the best of all, and the same again") {
  Rng rng(1);
  int without = 0;
  for (int round = 0; round < 300; ++round) {
    const LinearProgram program = random_program(rng);
    const double best = best_by_trying(program);
    const auto answer = solve_integer(program, {});
    if (best == -kInfinity) {
      REQUIRE(!answer.ok());
      CHECK(answer.error().code == Errc::conflict);
      ++without;
      continue;
    }
    REQUIRE(answer.ok());
    CHECK(answer.value().proven);
    CHECK(satisfies(program, answer.value().values));
    CHECK(std::abs(gain_of(program, answer.value().values) - best) < 1e-6);
    CHECK(solve_integer(program, {}).value().values == answer.value().values);
  }
  CHECK(without > 10);
}

TEST_CASE("a search that may fall short falls short by the gap at most") {
  Rng rng(2);
  for (int round = 0; round < 100; ++round) {
    const LinearProgram program = random_program(rng);
    const double best = best_by_trying(program);
    const auto answer = solve_integer(program, {.gap = 0.1});
    REQUIRE(answer.ok() == (best > -kInfinity));
    if (!answer) continue;
    CHECK(satisfies(program, answer.value().values));
    CHECK(gain_of(program, answer.value().values) >= best - 0.1 * std::abs(best) - 1e-6);
  }
}

/// Of each of so many things one of three forms at most, of which some capacity holds a part.
struct ManyForms {
  static constexpr std::uint32_t kForms = 3;
  static constexpr std::size_t kCapacity = 400;
  LinearProgram program;
  std::vector<std::size_t> needs;

  ManyForms(Rng& rng, std::uint32_t things) {
    LinearProgram::Row all{{}, -kInfinity, kCapacity};
    for (std::uint32_t i = 0; i < things; ++i) {
      LinearProgram::Row one{{}, -kInfinity, 1};
      const double scale = 1 + 4 * rng.uniform();
      for (std::uint32_t f = 0; f < kForms; ++f) {
        const std::uint32_t variable = i * kForms + f;
        needs.push_back((std::size_t{1} << f) + rng.below(3));
        program.variables.push_back(
            {scale * std::pow(static_cast<double>(needs.back()), 0.5 + 0.4 * rng.uniform()), 1,
             true});
        one.terms.emplace_back(variable, 1);
        all.terms.emplace_back(variable, static_cast<double>(needs.back()));
      }
      program.rows.push_back(std::move(one));
    }
    program.rows.push_back(std::move(all));
  }
  /// The best gain, by what each part of the capacity can hold.
  [[nodiscard]] double best() const {
    std::vector<double> most(kCapacity + 1, 0.0);
    for (std::size_t i = 0; i < needs.size(); i += kForms) {
      for (std::size_t room = kCapacity; room > 0; --room) {
        double gain = most[room];
        for (std::size_t v = i; v < i + kForms; ++v) {
          if (needs[v] <= room)
            gain = std::max(gain, most[room - needs[v]] + program.variables[v].gain);
        }
        most[room] = gain;
      }
    }
    return most[kCapacity];
  }
};

TEST_CASE("of a large program a core is searched, which costs next to nothing of the best") {
  Rng rng(9);
  for (int round = 0; round < 5; ++round) {
    const ManyForms many(rng, 300);
    REQUIRE(many.program.variables.size() > kMostSearchedWhole);
    const IntegerSearch search{.gap = 1e-3};
    const auto answer = solve_integer(many.program, search);
    REQUIRE(answer.ok());
    const double best = many.best(), found = gain_of(many.program, answer.value().values);
    CHECK(satisfies(many.program, answer.value().values));
    for (const double x : answer.value().values) CHECK(x == std::round(x));
    CHECK(found <= best + 1e-6);
    CHECK(found >= best * (1 - 2e-3));
    if (answer.value().proven) CHECK(found >= best * (1 - search.gap) - 1e-6);
    CHECK(solve_integer(many.program, search).value().values == answer.value().values);
  }
  ManyForms none(rng, 300);
  none.program.rows.back().low = none.program.rows.back().high = 0.5;
  CHECK(solve_integer(none.program, {}).error().code == Errc::conflict);
}

TEST_CASE("what has no answer says why") {
  LinearProgram program;
  program.variables = {{1, kInfinity, true}};
  program.rows = {{{{0, 2}}, 1, 1}};
  CHECK(solve_integer(program, {}).error().code == Errc::conflict);
  program.rows = {{{{0, 2}}, 4, 1}};
  CHECK(solve_integer(program, {}).error().code == Errc::conflict);
  program.rows = {{{{0, 1}}, 2, kInfinity}};
  CHECK(solve_integer(program, {}).error().code == Errc::invalid);
}

// As many of two kinds of stones as weigh an odd sum, which even weights never do.
TEST_CASE("a search that runs out of nodes ends") {
  LinearProgram program;
  LinearProgram::Row row{{}, 41, 41};
  for (std::uint32_t i = 0; i < 40; ++i) {
    program.variables.push_back({1, 1, true});
    row.terms.emplace_back(i, 2);
  }
  program.rows.push_back(row);
  const auto answer = solve_integer(program, {.gap = 0, .nodes = 3});
  REQUIRE(!answer.ok());
  CHECK((answer.error().code == Errc::busy || answer.error().code == Errc::conflict));
}

}  // namespace
}  // namespace starling
