// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/scaling.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

const GoodputProfile& profile_of(const char* model) {
  return *goodput_profile(model_profile(model));
}

StepShape gang(std::uint32_t replicas) {
  const std::uint32_t servers = (replicas + 3) / 4;
  return {1, 0, replicas, servers, servers > 1 ? Tier::rack : Tier::server};
}

// Without exchange and noise: every law of scaling is plain.
GoodputProfile plain() {
  GoodputProfile profile;
  profile.limits = {64, 6400, 1, 6400};
  profile.time.compute_s = 0.1;
  profile.time.sample_s = 0.01;
  profile.noise.own_batch = 64;
  profile.noise.largest_batch = 6400;
  profile.noise.at_own.fill(1e15);
  return profile;
}

}  // namespace

TEST_CASE("scaling by hand: Amdahl's law for one batch, and straight for a batch each") {
  const GoodputProfile profile = plain();
  for (const BatchRule rule : {BatchRule::strong, BatchRule::weak})
    CHECK(goodput_scaling(profile, rule, 64, gang(1), 0.5) == doctest::Approx(1));
  CHECK(goodput_scaling(profile, BatchRule::strong, 64, gang(4), 0.5) ==
        doctest::Approx(0.74 / 0.26));
  CHECK(goodput_scaling(profile, BatchRule::weak, 64, gang(4), 0.5) == doctest::Approx(4));
  CHECK(goodput_scaling(profile, BatchRule::best, 0, gang(4), 0.5) > 0.99);
  CHECK(goodput_scaling(profile, BatchRule::strong, 64, gang(65), 0.5) == 0);
  CHECK(goodput_scaling(profile, BatchRule::weak, 64, gang(101), 0.5) == 0);
}

TEST_CASE("noise of twice a batch makes doubling it worth 1.5, no noise 1, noise alone 2") {
  CHECK(doubling_gain(0, 128) == 1);
  CHECK(doubling_gain(1e12, 128) == doctest::Approx(2));
  CHECK(doubling_gain(128, 128) == doctest::Approx(4.0 / 3));
  CHECK(doubling_gain(256, 128) == doctest::Approx(1.5));
}

TEST_CASE("weak scaling is worth little early in a training and most of its size late") {
  for (const char* model : {"cifar10", "deepspeech2", "yolov3"}) {
    CAPTURE(model);
    const GoodputProfile& profile = profile_of(model);
    // Noise alone, without exchange.
    const auto worth = [&](double done) {
      const double own = profile.limits.own;
      return doubling_gain(profile.noise.phi(done, own), own);
    };
    CHECK(worth(0) < 1.5);
    CHECK(worth(0.5) > 1.9);
    CHECK(goodput_scaling(profile, BatchRule::weak, profile.limits.own, gang(4), 0) <
          goodput_scaling(profile, BatchRule::weak, profile.limits.own, gang(4), 0.9));
  }
}

TEST_CASE(
    "a job that may choose its batch scales no worse than with one batch, from the same start") {
  for (const GoodputProfile& profile : goodput_profiles()) {
    CAPTURE(profile.model);
    for (const std::uint32_t replicas : {2U, 4U, 8U, 16U}) {
      for (const double done : {0.0, 0.4, 0.95}) {
        const double one =
            best_batch(profile.time, profile.noise, profile.limits, gang(1), done).goodput;
        const double best =
            one * goodput_scaling(profile, BatchRule::best, 0, gang(replicas), done);
        const BatchSplit split = split_batch(profile.limits.own, replicas, profile.limits);
        StepShape fixed = gang(replicas);
        fixed.local_batch = split.local_batch;
        if (fixed.batch() < profile.limits.least_local * replicas) continue;
        CHECK(best >= 0.999 * goodput(profile.time, profile.noise, done, fixed));
      }
    }
  }
}

TEST_CASE("over a training each part takes its own time") {
  NoiseScale noise;
  noise.own_batch = 100;
  noise.largest_batch = 1000;
  noise.at_own.fill(1e15);
  CHECK(training_efficiency(noise, 100, 800) == doctest::Approx(1));
  // Half of it without noise: a batch twice as large makes no more progress there.
  for (std::size_t part = 0; part < 6; ++part) noise.at_own[part] = 0;
  CHECK(training_efficiency(noise, 100, 200) == doctest::Approx(1 / (0.5 * 2 + 0.5)));
  CHECK(training_efficiency(noise, 200, 100) == doctest::Approx(1 / (0.5 / 2 + 0.5)));
  CHECK(training_efficiency(noise, 200, 200) == 1);
}
