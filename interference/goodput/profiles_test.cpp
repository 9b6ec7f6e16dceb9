// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/profiles.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("profiles are of catalogue models, by any name of theirs, and of no others") {
  CHECK(goodput_profiles().size() == 6);
  for (const GoodputProfile& profile : goodput_profiles()) {
    CAPTURE(profile.model);
    CHECK(known_model(profile.model));
    CHECK(goodput_profile(model_profile(profile.model)) == &profile);
    CHECK(profile.limits.own == profile.noise.own_batch);
    CHECK(profile.limits.largest == profile.noise.largest_batch);
    CHECK(profile.time.bend > 0);
    CHECK(profile.time.bend <= 1);
    CHECK(profile.time.gamma >= 1);
  }
  CHECK(goodput_profile(model_profile("cifar10"))->model == "resnet18");
  CHECK(goodput_profile(model_profile("vgg16")) == nullptr);
}

TEST_CASE("in every part of every training larger batches gain more and less than their size") {
  for (const GoodputProfile& profile : goodput_profiles()) {
    CAPTURE(profile.model);
    for (const double done : kNoiseParts) {
      double last = 1;
      for (double batch = 2 * profile.limits.own; batch <= profile.limits.largest; batch *= 2) {
        const double gain = step_gain(profile.noise.phi(done, batch), profile.limits.own, batch);
        CHECK(gain >= last);
        CHECK(gain <= batch / profile.limits.own);
        last = gain;
      }
    }
  }
}

TEST_CASE("as a training goes on its best batch grows") {
  for (const char* model : {"cifar10", "deepspeech2", "imagenet", "yolov3"}) {
    CAPTURE(model);
    const GoodputProfile& profile = *goodput_profile(model_profile(model));
    const StepShape where{1, 0, 8, 2, Tier::rack};
    const auto batch = [&](double done) {
      const BatchChoice best = best_batch(profile.time, profile.noise, profile.limits, where, done);
      return best.split.local_batch * (best.split.accumulation + 1);
    };
    CHECK(batch(0.95) >= 1.5 * batch(0));
  }
}
