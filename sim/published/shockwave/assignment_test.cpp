// SPDX-License-Identifier: Apache-2.0
// Published schedules of AlloX follow from which of many equal assignments is taken.
#include "sim/published/shockwave/assignment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"

using namespace starling;

namespace {

double sum_of(const std::vector<std::vector<double>>& cost, const std::vector<std::size_t>& to) {
  double sum = 0;
  for (std::size_t row = 0; row < cost.size(); ++row) sum += cost[row][to[row]];
  return sum;
}

/// Over all ways to give each row a column of its own.
double least_sum(const std::vector<std::vector<double>>& cost) {
  std::vector<std::size_t> columns(cost.front().size());
  std::iota(columns.begin(), columns.end(), 0);
  double least = 1e300;
  do {
    least = std::min(least, sum_of(cost, columns));
  } while (std::next_permutation(columns.begin(), columns.end()));
  return least;
}

}  // namespace

TEST_CASE("no assignment costs less") {
  Rng rng(5);
  for (int k = 0; k < 200; ++k) {
    const std::size_t rows = 1 + rng.below(5), columns = rows + rng.below(3);
    std::vector<std::vector<double>> cost(rows, std::vector<double>(columns));
    for (auto& row : cost)
      for (double& c : row) c = static_cast<double>(rng.below(20)) - 5;
    const auto to = least_assignment(cost);
    REQUIRE(to.size() == rows);
    auto sorted = to;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    CHECK(sum_of(cost, to) == doctest::Approx(least_sum(cost)));
  }
}

TEST_CASE("where all costs are equal, rows keep their columns") {
  const auto to = least_assignment(std::vector(3, std::vector<double>(4, 7)));
  CHECK(to == std::vector<std::size_t>{0, 1, 2});
  CHECK(least_assignment({}).empty());
}
