// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/page_hinkley.h"

#include <doctest/doctest.h>

#include <initializer_list>

#include "base/rng.h"

using namespace starling;

TEST_CASE("surprises as they are expected raise no alarm for thousands of measurements") {
  Rng rng(3);
  PageHinkley test;
  std::uint32_t alarms = 0;
  for (int i = 0; i < 20'000; ++i) alarms += test.observe(rng.normal()) ? 1 : 0;
  CHECK(alarms <= 12);
}

TEST_CASE("a model that is wrong by three deviations is told soon, and since when") {
  for (const double bias : {3.0, -3.0}) {
    Rng rng(5);
    PageHinkley test;
    for (int i = 0; i < 200; ++i) REQUIRE(!test.observe(0.7 * rng.normal()));
    int taken = 0;
    while (!test.observe(bias + 0.5 * rng.normal())) ++taken;
    CHECK(taken <= 7);
    CHECK(test.since() >= static_cast<std::uint32_t>(taken));
    CHECK(test.since() <= static_cast<std::uint32_t>(taken) + 10);
    // It begins anew.
    test.observe(0);
    CHECK(test.sum() == 0);
    CHECK(test.since() == 0);
  }
}

TEST_CASE("one wild measurement is no alarm") {
  PageHinkley test;
  CHECK(!test.observe(1000));
  CHECK(!test.observe(0.1));
}
