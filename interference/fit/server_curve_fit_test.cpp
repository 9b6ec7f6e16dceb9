// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/server_curve_fit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

using namespace starling;

namespace {

constexpr double kBatch = 32;

std::vector<ServerSample> measured(const ServerCurve& truth, int count, double noise,
                                   std::uint64_t seed) {
  Rng rng(seed);
  std::vector<ServerSample> samples;
  for (int i = 0; i < count; ++i) {
    ServerSample s{1 + static_cast<double>(rng.below(20)), 1 + static_cast<double>(rng.below(20)),
                   kBatch, 0};
    s.speed = truth.speed(s.workers, s.servers, s.batch) * (1 + noise * (2 * rng.uniform() - 1));
    samples.push_back(s);
  }
  return samples;
}

// Over all that 20 workers and 20 servers may be.
double mean_error(const ServerCurve& fitted, const ServerCurve& truth) {
  double sum = 0;
  for (double w = 1; w <= 20; ++w) {
    for (double p = 1; p <= 20; ++p)
      sum += std::abs(fitted.speed(w, p, kBatch) / truth.speed(w, p, kBatch) - 1);
  }
  return sum / 400;
}

}  // namespace

TEST_CASE("Optimus' constants are found again from what they give") {
  for (const ServerCurve& truth : {kOptimusResnet50Async, kOptimusResnet50Sync}) {
    const ServerCurve fitted = fit_server_curve(measured(truth, 60, 0, 1), truth.synchronous);
    CAPTURE(truth.synchronous);
    for (std::size_t i = 0; i < truth.theta.size(); ++i)
      CHECK(fitted.theta[i] == doctest::Approx(truth.theta[i]).epsilon(0.001).scale(1));
  }
}

TEST_CASE("ten measurements that are off by up to 10 % give the whole curve to 10 %") {
  for (const ServerCurve& truth : {kOptimusResnet50Async, kOptimusResnet50Sync}) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const ServerCurve fitted =
          fit_server_curve(measured(truth, 10, 0.1, seed), truth.synchronous);
      for (const double theta : fitted.theta) CHECK(theta >= 0);
      sum += mean_error(fitted, truth) / 20;
    }
    CAPTURE(truth.synchronous);
    MESSAGE("mean error of the speed " << sum);
    CHECK(sum < 0.1);
  }
}
