// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/analytic_centre.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"

using namespace starling;

namespace {

double potential(const std::vector<BoundedShare>& shares, const std::vector<double>& x,
                 double room) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    room -= shares[i].gpus * x[i];
    sum += 2 * std::log(x[i] - shares[i].low) + std::log(1 - x[i]);
  }
  return sum + std::log(room);
}

}  // namespace

TEST_CASE("no job's share can be moved to the better") {
  Rng rng(9);
  for (int k = 0; k < 50; ++k) {
    std::vector<BoundedShare> shares(1 + rng.below(6));
    double room = 0.2 + rng.uniform();
    for (BoundedShare& share : shares) {
      share = {0.9 * rng.uniform(), static_cast<double>(1U << rng.below(3))};
      room += share.low * share.gpus;
    }
    const auto x = analytic_centre(shares, room);
    const double here = potential(shares, x, room);
    REQUIRE(std::isfinite(here));
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (const double by : {-1e-4, 1e-4}) {
        auto y = x;
        y[i] += by;
        const double there = potential(shares, y, room);
        CHECK((std::isnan(there) || there <= here));
      }
    }
  }
}

TEST_CASE("lower bounds that take all are the answer") {
  const auto x = analytic_centre({{0.5, 2}, {0.25, 4}}, 2);
  CHECK(x == std::vector<double>{0.5, 0.25});
  CHECK(analytic_centre({}, 1).empty());
}
