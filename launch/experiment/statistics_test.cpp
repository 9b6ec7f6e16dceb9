// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/statistics.h"

#include <doctest/doctest.h>

using namespace starling;

// Values of the printed tables of Student's t.
TEST_CASE("quantiles of Student's t") {
  CHECK(t_quantile(0.975, 1) == doctest::Approx(12.7062).epsilon(1e-5));
  CHECK(t_quantile(0.975, 2) == doctest::Approx(4.30265).epsilon(1e-5));
  CHECK(t_quantile(0.975, 9) == doctest::Approx(2.26216).epsilon(1e-5));
  CHECK(t_quantile(0.975, 30) == doctest::Approx(2.04227).epsilon(1e-5));
  CHECK(t_quantile(0.95, 10) == doctest::Approx(1.81246).epsilon(1e-5));
  CHECK(t_quantile(0.025, 4) == doctest::Approx(-2.77645).epsilon(1e-5));
}

TEST_CASE("the interval of a small sample") {
  const std::vector<double> sample{2, 4, 4, 4, 6};  // deviation sqrt(2), t(4) = 2.77645
  const Interval x = interval95(sample);
  CHECK(x.mean == doctest::Approx(4));
  CHECK(x.half == doctest::Approx(2.77645 * 1.414214 / 2.236068).epsilon(1e-5));
  CHECK(x.n == 5);
  CHECK(interval95({sample.data(), 1}).half == 0);
  CHECK(interval95({}).n == 0);
}

TEST_CASE("median") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median({}) == 0);
}
