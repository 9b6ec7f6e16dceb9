// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/service_history.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("a history too short to tell gives no index") {
  ServiceHistory history;
  for (std::size_t i = 0; i + 1 < ServiceHistory::kEnough; ++i) history.add(100);
  CHECK(history.index(0, 1000) == 0);
  history.add(100);
  CHECK(history.index(0, 1000) == doctest::Approx(1.0 / 100));
}

TEST_CASE("half the jobs are short: the index falls once a job has outlived them") {
  ServiceHistory history;
  for (int i = 0; i < 50; ++i) history.add(10);
  for (int i = 0; i < 50; ++i) history.add(1000);
  // From 0 with horizon 10: half finish, everybody uses 10.
  CHECK(history.index(0, 10) == doctest::Approx(50.0 / (100 * 10)));
  // From 10 on only the long ones live: within 10 more none finishes, within 990 all do.
  CHECK(history.index(10, 10) == 0);
  CHECK(history.index(10, 990) == doctest::Approx(50.0 / (50 * 990)));
  CHECK(history.index(1000, 1e9) == 0);
}

TEST_CASE("what is left is that of those that had more") {
  ServiceHistory history;
  for (int i = 10; i >= 1; --i) history.add(i);
  CHECK(history.above(5) == 5);
  CHECK(history.left(5, 0) == 1);
  CHECK(history.left(5, 0.99) == 5);
  CHECK(history.left(0, 0.5) == 6);
  CHECK(history.median_left(5) == 3);
  CHECK(history.median_left(10) == 0);
}

TEST_CASE("old totals are forgotten") {
  ServiceHistory history;
  for (std::size_t i = 0; i < ServiceHistory::kWindow; ++i) history.add(10);
  for (std::size_t i = 0; i < ServiceHistory::kWindow; ++i) history.add(20);
  CHECK(history.index(15, 100) == doctest::Approx(1.0 / 5));
  CHECK(history.index(0, 15) == 0);
}

}  // namespace
}  // namespace starling
