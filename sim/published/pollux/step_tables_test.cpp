// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/step_tables.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

StepTables example() {
  StepTables tables;
  tables.add_placement("4", 8, {1.0, 0.2});
  tables.add_placement("4", 16, {2.0, 0.4});
  tables.add_placement("13", 8, {3.0, 1.0});
  tables.add_placement("22", 8, {5.0, 2.0});
  tables.add_placement("44", 8, {7.0, 3.0});
  tables.add_scaling(4, 16, 8, {11.0, 4.0});
  tables.add_interpolated(3, 5, 8, {0.5, 0.25});
  tables.finish();
  return tables;
}

}  // namespace

TEST_CASE("a measured placement is linear in the batch, however it is rotated") {
  const StepTables tables = example();
  CHECK(tables.step({4}, 12).step_s == doctest::Approx(1.5));
  CHECK(tables.step({4}, 12).sync_s == doctest::Approx(0.3));
  CHECK(tables.step({3, 1}, 8).step_s == 3.0);
  CHECK(tables.step({1, 3}, 8).grad_s() == 2.0);
  CHECK(tables.least_local() == 8);
  CHECK(tables.most_local() == 16);
}

TEST_CASE("what was interpolated is looked up, and the rest lies between measured places") {
  const StepTables tables = example();
  CHECK(tables.step({2, 2, 1}, 8).step_s == 0.5);
  // Two nodes: 4 replicas take (3 + 5) / 2 on average, 8 take 7.
  CHECK(tables.step({2, 4}, 8).step_s == doctest::Approx((4.0 + 7.0) / 2));
  // Three full nodes: between 8 replicas on two and 16 on four.
  CHECK(tables.step({4, 4, 4}, 8).step_s == doctest::Approx((7.0 + 11.0) / 2));
  CHECK(tables.step({4, 4, 4}, 8).sync_s == doctest::Approx((3.0 + 4.0) / 2));
}
