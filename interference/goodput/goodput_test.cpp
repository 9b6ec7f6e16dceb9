// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/goodput.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"

using namespace starling;

namespace {

constexpr BatchLimits kLimits{128, 4096, 32, 1024};
constexpr StepShape kFour{1, 0, 4, 4, Tier::rack};

NoiseScale noise_of(double phi) {
  NoiseScale noise;
  noise.own_batch = kLimits.own;
  noise.largest_batch = kLimits.largest;
  noise.at_own.fill(phi);
  return noise;
}

StepTime cifar_like() {
  StepTime time;
  time.compute_s = 0.01;
  time.sample_s = 0.0008;
  time.server = {0.042, 0.005};
  time.rack = {0.12, 0.007};
  time.network = time.rack;
  time.gamma = 3;
  return time;
}

StepShape shape_of(const BatchSplit& split, std::uint32_t replicas) {
  return {split.local_batch, split.accumulation, replicas, replicas, Tier::rack};
}

}  // namespace

TEST_CASE("a batch is split evenly, in as few gradients as the memory allows") {
  CHECK(split_batch(512, 4, kLimits) == BatchSplit{128, 0});
  CHECK(split_batch(4096, 4, kLimits) == BatchSplit{1024, 0});
  CHECK(split_batch(4096, 2, kLimits) == BatchSplit{1024, 1});
  CHECK(split_batch(130, 4, kLimits) == BatchSplit{33, 0});
  // Rounded up it would pass the largest: 3 * 1366 > 4096.
  CHECK(split_batch(4096, 3, kLimits) == BatchSplit{682, 1});
}

TEST_CASE("one replica beyond its own batch accumulates, else it could not measure noise") {
  CHECK(split_batch(128, 1, kLimits) == BatchSplit{128, 0});
  CHECK(split_batch(256, 1, kLimits) == BatchSplit{128, 1});
  CHECK(split_batch(3072, 1, kLimits) == BatchSplit{1024, 2});
}

TEST_CASE("goodput is throughput at the own batch, and less of it at larger ones") {
  const StepTime time = cifar_like();
  const NoiseScale noise = noise_of(1000);
  const StepShape own{32, 0, 4, 4, Tier::rack};
  CHECK(goodput(time, noise, 0.5, own) == doctest::Approx(time.throughput(own)));
  const StepShape large{256, 0, 4, 4, Tier::rack};
  CHECK(goodput(time, noise, 0.5, large) ==
        doctest::Approx(time.throughput(large) * 1128.0 / 2024.0));
}

TEST_CASE("without noise the own batch is best, with noise alone the one of most throughput") {
  const StepTime time = cifar_like();
  const BatchChoice small = best_batch(time, noise_of(0), kLimits, kFour, 0.5);
  CHECK(shape_of(small.split, 4).batch() == 128);
  const BatchChoice large = best_batch(time, noise_of(1e12), kLimits, kFour, 0.5);
  CHECK(shape_of(large.split, 4).batch() == 4096);
  CHECK(large.goodput > small.goodput);
}

TEST_CASE("the best batch is in its limits and within 2 % of the best of all batches") {
  const StepTime time = cifar_like();
  Rng rng(9);
  for (int i = 0; i < 60; ++i) {
    const NoiseScale noise = noise_of(20000 * rng.uniform() * rng.uniform());
    const auto replicas = 1 + static_cast<std::uint32_t>(rng.below(64));
    const BatchChoice best = best_batch(time, noise, kLimits, shape_of({}, replicas), 0);
    CHECK(shape_of(best.split, replicas).batch() <= kLimits.largest);
    CHECK(best.split.local_batch <= kLimits.most_local);
    double all = 0;
    for (double batch = std::max(128.0, 32.0 * replicas); batch <= kLimits.largest; ++batch) {
      const BatchSplit split = split_batch(batch, replicas, kLimits);
      all = std::max(all, goodput(time, noise, 0, shape_of(split, replicas)));
    }
    CAPTURE(replicas);
    CHECK(best.goodput >= 0.98 * all);
    CHECK(best.goodput <= all * (1 + 1e-12));
  }
}

TEST_CASE("replicas for which even the least batches are too much have none") {
  CHECK(best_batch(cifar_like(), noise_of(1000), kLimits, shape_of({}, 200), 0).goodput == 0);
}
