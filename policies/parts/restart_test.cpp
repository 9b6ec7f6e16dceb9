// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/restart.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("a job that restarted often, or is young, has less left after another restart") {
  CHECK(restart_factor(0, 0, 30) == 0);
  CHECK(restart_factor(600, 0, 30) == doctest::Approx(600.0 / 630));
  CHECK(restart_factor(600, 300, 30) == doctest::Approx(300.0 / 630));
  CHECK(restart_factor(10, 30, 30) == 0);
  CHECK(restart_factor(0, 0, 0) == 1);  // restarts that cost nothing
  CHECK(restart_factor(1e-12, 0, 0) <= 1);
  CHECK(restart_factor(600, 0, 0) == 1);
}

}  // namespace
}  // namespace starling
