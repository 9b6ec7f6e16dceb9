// SPDX-License-Identifier: Apache-2.0
#include "policies/programs/lp.h"

#include <doctest/doctest.h>

#include <cmath>

namespace starling {
namespace {

// x + y <= 4, x <= 3, y <= 2: 2x + y is largest at (3, 1).
TEST_CASE("both methods find the one best point") {
  LinearProgram lp;
  lp.variables = {{2, 3}, {1, 2}};
  lp.rows = {{{{0, 1}, {1, 1}}, -LinearProgram::kInfinity, 4}};
  for (const LpPoint point : {LpPoint::corner, LpPoint::middle}) {
    const auto x = solve_lp(lp, point);
    REQUIRE(x.ok());
    CHECK(std::abs(x.value()[0] - 3) < 1e-5);
    CHECK(std::abs(x.value()[1] - 1) < 1e-5);
  }
}

TEST_CASE("the middle shares out what the objective leaves open") {
  LinearProgram lp;
  lp.variables = {{1, 1}, {1, 1}};
  lp.rows = {{{{0, 1}, {1, 1}}, -LinearProgram::kInfinity, 1}};
  const auto x = solve_lp(lp, LpPoint::middle).value();
  CHECK(std::abs(x[0] + x[1] - 1) < 1e-5);
  CHECK(x[0] > 0.2);
  CHECK(x[1] > 0.2);
}

TEST_CASE("what has no answer says why") {
  LinearProgram lp;
  lp.variables = {{1, LinearProgram::kInfinity}};
  lp.rows = {{{{0, 1}}, 2, 1e9}, {{{0, 1}}, -LinearProgram::kInfinity, 1}};
  for (const LpPoint point : {LpPoint::corner, LpPoint::middle}) {
    const auto nothing = solve_lp(lp, point);
    REQUIRE(!nothing.ok());
    CHECK(nothing.error().code == Errc::conflict);
  }
  lp.rows = {{{{0, 1}}, 2, LinearProgram::kInfinity}};
  CHECK(solve_lp(lp, LpPoint::corner).error().code == Errc::invalid);
}

}  // namespace
}  // namespace starling
