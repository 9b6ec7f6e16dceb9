// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/epoch_forecast.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

/// Epochs of batch 32 that take 100 s, then of batch 256 that take 40 s.
ShockwaveJob job(std::size_t small, std::size_t large) {
  ShockwaveJob out{
      DynamicBatches(*shockwave_model("ResNet-18"), BatchMode::accordion, 32, 1), 1, 1, 0, {}, {}};
  out.profile.assign(small, {32, 100.4});
  out.profile.insert(out.profile.end(), large, {256, 39.6});
  return out;
}

}  // namespace

TEST_CASE("nothing seen: equal parts of each batch") {
  EpochForecast forecast(job(6, 4), 0);
  // 5 of each are expected at first, and the first epoch counts one more for 32:
  // 10/11 * (6, 5) less the one that is seen.
  const double small = 60.0 / 11 - 1, large = 50.0 / 11;
  CHECK(forecast.left_s() == doctest::Approx((small * 100 + large * 40) * 10 / 10));
  CHECK(forecast.epoch_s() == doctest::Approx(100));
}

TEST_CASE("what has been seen counts, and what is over is over") {
  EpochForecast forecast(job(6, 4), 50);
  forecast.set_progress(6);
  CHECK(forecast.epoch_s() == doctest::Approx((6 * 100 + 40) / 7.0));
  // 10/17 * (5 + 6, 5 + 1), less the 6 and 1 that are seen; 4 are to come.
  const double small = 110.0 / 17 - 6, large = 60.0 / 17 - 1;
  CHECK(forecast.left_s() == doctest::Approx((small * 100 + large * 40) * 4 / 4));
  CHECK(forecast.finish_s(0.5) == doctest::Approx(50 + (6 * 100 + forecast.left_s()) / 0.5));
  forecast.set_progress(10);
  CHECK(forecast.left_s() == 1);
}

TEST_CASE("epochs stretch where the pace is off by more than 40 %") {
  EpochForecast same(job(10, 0), 0), slow(job(10, 0), 0);
  same.measured(1, 32, 0.8 * 500.0 / 32);  // a fifth less than 500 samples/s
  CHECK(same.epoch_s() == doctest::Approx(100));
  slow.measured(1, 32, 0.5 * 500.0 / 32);
  CHECK(slow.epoch_s() == doctest::Approx(200));
}
