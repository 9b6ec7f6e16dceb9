// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/returns.h"

#include <doctest/doctest.h>

#include <cmath>

namespace starling {
namespace {

TEST_CASE("the area below the number of jobs is the sum of their times in the system") {
  const std::vector<std::pair<double, double>> jobs{{10, 40}, {0, 20}, {15, 16}};
  const JobsOverTime there(jobs);
  CHECK(there.area(1000) == doctest::Approx(30 + 20 + 1));
  CHECK(there.area(12) == doctest::Approx(12 + 2));
  CHECK(there.area(-1) == 0);
  CHECK(there.at(5) == 1);
  CHECK(there.at(15.5) == 3);
  CHECK(there.at(20) == 1);
  CHECK(there.end() == 40);
}

TEST_CASE("advantages are those of a hand calculation") {
  // Two hours and half an hour apart; discount 0.9 and lambda 0.5 for each hour.
  const std::vector<double> at{0, 2, 2.5}, reward{1, -2, 4}, value{3, 1, 2};
  const Returns out = advantages(at, reward, value, 0.9, 0.5);
  const double third = 4 - 2.0;
  const double half = std::sqrt(0.9), second = -2 + half * 2 - 1 + half * std::sqrt(0.5) * third;
  const double first = 1 + 0.81 * 1 - 3 + 0.81 * 0.25 * second;
  CHECK(out.advantage[2] == doctest::Approx(third));
  CHECK(out.advantage[1] == doctest::Approx(second));
  CHECK(out.advantage[0] == doctest::Approx(first));
  CHECK(out.target[0] == doctest::Approx(first + 3));
}

TEST_CASE("with lambda 1 the critic cancels, with lambda 0 only the next step counts") {
  const std::vector<double> at{0, 1, 2}, reward{1, 1, 1}, value{5, 7, 9};
  CHECK(advantages(at, reward, value, 1, 1).target[0] == doctest::Approx(3));
  CHECK(advantages(at, reward, value, 1, 0).advantage[0] == doctest::Approx(1 + 7 - 5));
}

}  // namespace
}  // namespace starling
