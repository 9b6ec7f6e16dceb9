// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/noise_scale.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/rng.h"

using namespace starling;

TEST_CASE("efficiency and gain by hand, in both forms of the paper") {
  CHECK(statistical_efficiency(1000, 100, 400) == doctest::Approx(1100.0 / 1400));
  CHECK(step_gain(1000, 100, 400) == doctest::Approx(4 * 1100.0 / 1400));
  const double variance = 30;
  const double square = 3;
  CHECK(noise_scale(variance, square, 100) == 1000);
  CHECK(step_gain(noise_scale(variance, square, 100), 100, 400) ==
        doctest::Approx((variance + square) / (variance / 4 + square)));
}

TEST_CASE("limits: own batch, no noise, noise alone") {
  for (const double phi : {0.0, 1.0, 1e6}) {
    CHECK(statistical_efficiency(phi, 128, 128) == 1);
    CHECK(step_gain(phi, 128, 128) == 1);
  }
  // Without noise one sample says as much as many.
  CHECK(step_gain(0, 128, 1024) == 1);
  CHECK(noise_scale(5, 0, 128) == std::numeric_limits<double>::infinity());
  CHECK(statistical_efficiency(noise_scale(5, 0, 128), 128, 1024) == 1);
  CHECK(step_gain(1e12, 128, 1024) == doctest::Approx(8));
  CHECK(statistical_efficiency(1000, 128, 64) > 1);
}

TEST_CASE("a larger batch makes more progress a step and less a sample; noise helps it") {
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const double own = 1 + 1000 * rng.uniform();
    const double phi = 1e5 * rng.uniform() * rng.uniform();
    const double batch = own * (1 + 20 * rng.uniform());
    const double larger = batch * (1 + rng.uniform());
    CHECK(step_gain(phi, own, larger) >= step_gain(phi, own, batch));
    CHECK(step_gain(phi, own, larger) <= larger / own * (1 + 1e-12));
    CHECK(statistical_efficiency(phi, own, larger) <= statistical_efficiency(phi, own, batch));
    CHECK(statistical_efficiency(2 * phi, own, batch) >= statistical_efficiency(phi, own, batch));
  }
}

TEST_CASE("noise is constant in each part of a training and goes with the batch within limits") {
  CHECK(noise_part(0) == 0);
  CHECK(noise_part(0.019) == 0);
  CHECK(noise_part(0.02) == 1);
  CHECK(noise_part(0.55) == 6);
  CHECK(noise_part(0.95) == kNoiseParts.size() - 1);
  CHECK(noise_part(1) == kNoiseParts.size() - 1);
  CHECK(noise_part(7) == kNoiseParts.size() - 1);

  NoiseScale noise;
  noise.own_batch = 100;
  noise.largest_batch = 1600;
  noise.at_own.fill(500);
  noise.slope.fill(0.5);
  noise.at_own[3] = 2000;
  CHECK(noise.phi(0, 100) == 500);
  CHECK(noise.phi(0.25, 100) == 2000);
  CHECK(noise.phi(0, 400) == doctest::Approx(1000));
  CHECK(noise.phi(0, 10) == 500);
  CHECK(noise.phi(0, 1e6) == doctest::Approx(2000));
}
