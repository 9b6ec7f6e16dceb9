// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/interior_point.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"

using namespace starling;

TEST_CASE(
    "of what has a price and a size it takes the dearest for its size, and a part of the last") {
  Rng rng(3);
  for (int k = 0; k < 40; ++k) {
    const std::uint32_t n = 2 + rng.below(8);
    const double room = 8;
    struct Item {
      double gain, size;
    };
    std::vector<Item> items;
    InequalityProgram program;
    InequalityProgram::Row fits{{}, room};
    for (std::uint32_t i = 0; i < n; ++i) {
      items.push_back({1.0 + rng.below(50), static_cast<double>(1U << rng.below(3))});
      program.cost.push_back(-items[i].gain);
      program.rows.push_back({{{i, -1}}, 0});
      program.rows.push_back({{{i, 1}}, 1});
      fits.terms.emplace_back(i, items[i].size);
    }
    program.rows.push_back(fits);
    const auto point = embedded_optimum(program);
    REQUIRE(point.ok());
    double ours = 0, used = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      ours += items[i].gain * point.value()[i];
      used += items[i].size * point.value()[i];
      CHECK(point.value()[i] > -1e-7);
      CHECK(point.value()[i] < 1 + 1e-7);
    }
    CHECK(used < room + 1e-6);
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.gain * b.size > b.gain * a.size; });
    double best = 0, left = room;
    for (const Item& item : items) {
      const double part = std::min(1.0, left / item.size);
      best += part * item.gain;
      left -= part * item.size;
    }
    CHECK(ours == doctest::Approx(best).epsilon(1e-6));
  }
}

TEST_CASE("what the cost leaves open is shared out as ECOS 2.0.14 does") {
  // Two shares of a GPU each, with no cost, at least 0.5 of the first.
  const InequalityProgram program{{0, 0},
                                  {{{{0, -1}}, 0},
                                   {{{1, -1}}, 0},
                                   {{{0, 1}, {1, 2}}, 2},
                                   {{{0, 1}}, 1},
                                   {{{1, 1}}, 1},
                                   {{{0, -4}}, -2}}};
  const auto point = embedded_optimum(program);
  REQUIRE(point.ok());
  CHECK(point.value()[0] == doctest::Approx(0.520208469205).epsilon(1e-9));
  CHECK(point.value()[1] == doctest::Approx(0.584920165959).epsilon(1e-9));
}

TEST_CASE("rows that exclude one another are told") {
  const InequalityProgram program{{1}, {{{{0, 1}}, 1}, {{{0, -1}}, -2}}};
  const auto point = embedded_optimum(program);
  REQUIRE_FALSE(point.ok());
  CHECK(point.error().code == Errc::busy);
}
