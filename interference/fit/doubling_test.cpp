// SPDX-License-Identifier: Apache-2.0
// What twice the workers are worth, measured and by the committed noise scales.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/test_data.h"
#include "interference/fit/goodput_sources.h"
#include "interference/goodput/scaling.h"

using namespace starling;

namespace {

// By one measured epoch of a run with that batch.
double measured_gain(const NoiseSample& epoch, double own, double batch) {
  return doubling_gain(noise_scale(epoch.variance, epoch.square, own), batch);
}

}  // namespace

TEST_CASE("doubling workers gives 1.4 to 2 times the progress half-way, 1.0 to 1.3 at the start" *
          doctest::test_suite("published data")) {
  const auto file = test_data("pollux/validation.csv.gz");
  if (!file) return;
  const auto noise = read_pollux_noise(file->parent_path().parent_path());
  REQUIRE_MESSAGE(noise.ok(), noise.error().message);
  double missed = 0;
  std::size_t rows = 0;
  for (const auto& [application, runs] : noise.value()) {
    CAPTURE(application);
    const GoodputProfile& profile = *goodput_profile(model_profile(application));
    const double own = runs.begin()->first;
    double least = 2;
    double most = 1;
    for (const auto& [batch, epochs] : runs) {
      const double half = measured_gain(epochs[(epochs.size() - 1) / 2], own, batch);
      least = std::min(least, half);
      most = std::max(most, half);
      // Of two epochs the first ends half-way; its noise is of the quarter before and after.
      const double done = epochs.size() > 2 ? 0.499 : 0.25;
      missed += std::abs(doubling_gain(profile.noise.phi(done, batch), batch) - half);
      ++rows;
    }
    MESSAGE(application << ": half-way " << least << " to " << most);
    CHECK(least > 1.35);
    CHECK(most <= 2);
    const bool early =
        application == "cifar10" || application == "deepspeech2" || application == "yolov3";
    if (!early) continue;
    for (const auto& [batch, epochs] : runs) {
      const double start = measured_gain(epochs.front(), own, batch);
      CHECK(start <= 1.3);
      CHECK(std::abs(doubling_gain(profile.noise.phi(0, batch), batch) - start) < 0.15);
    }
  }
  MESSAGE("mean error of the committed noise scales half-way " << missed / static_cast<double>(rows)
                                                               << " over " << rows << " batches");
  CHECK(missed / static_cast<double>(rows) < 0.04);
}
