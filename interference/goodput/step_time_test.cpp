// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/step_time.h"

#include <doctest/doctest.h>

#include "base/rng.h"

using namespace starling;

namespace {

// T_grad is 0.2 s at a local batch of 10.
StepTime example(double gamma) {
  StepTime time;
  time.compute_s = 0.1;
  time.sample_s = 0.01;
  time.server = {0.1, 0.02};
  time.rack = {0.3, 0.05};
  time.network = {0.5, 0.1};
  time.crowd_s = 0.03;
  time.gamma = gamma;
  return time;
}

StepTime random_time(Rng& rng) {
  StepTime time;
  time.compute_s = rng.uniform();
  time.sample_s = rng.uniform() / 10;
  time.server = {rng.uniform(), rng.uniform() / 10};
  time.rack = {time.server.two_s + rng.uniform(), time.server.growth_s + rng.uniform() / 10};
  time.network = {time.rack.two_s + rng.uniform(), time.rack.growth_s + rng.uniform() / 10};
  time.crowd_s = rng.uniform() / 10;
  time.bend = 0.3 + 0.7 * rng.uniform();
  time.gamma = 1 + 9 * rng.uniform();
  return time;
}

}  // namespace

TEST_CASE("a step by hand: gradients, exchange by tier and replicas, accumulation") {
  const StepTime sum = example(1);
  CHECK(sum.grad_s(10) == doctest::Approx(0.2));
  CHECK(sum.sync_s({10, 0, 1, 1, Tier::network}) == 0);
  CHECK(sum.sync_s({10, 0, 2, 1, Tier::island}) == doctest::Approx(0.1));
  CHECK(sum.sync_s({10, 0, 4, 1, Tier::server}) == doctest::Approx(0.14));
  CHECK(sum.sync_s({10, 0, 4, 4, Tier::rack}) == doctest::Approx(0.4));
  CHECK(sum.sync_s({10, 0, 4, 2, Tier::rack}) == doctest::Approx(0.43));
  CHECK(sum.sync_s({10, 0, 4, 4, Tier::network}) == doctest::Approx(0.7));
  CHECK(sum.step_s({10, 0, 1, 1, Tier::island}) == doctest::Approx(0.2));
  CHECK(sum.step_s({10, 0, 4, 1, Tier::server}) == doctest::Approx(0.34));
  CHECK(sum.step_s({10, 2, 4, 1, Tier::server}) == doctest::Approx(0.74));
  CHECK(StepShape{10, 2, 4, 1, Tier::server}.batch() == 120);
  CHECK(sum.throughput({10, 2, 4, 1, Tier::server}) == doctest::Approx(120 / 0.74));
  // sqrt(0.2^2 + 0.14^2)
  CHECK(example(2).step_s({10, 0, 4, 1, Tier::server}) == doctest::Approx(0.2441311));
}

TEST_CASE("gamma goes from the sum of both to the longer of them") {
  const StepShape shape{10, 0, 4, 4, Tier::rack};
  CHECK(example(1).step_s(shape) == doctest::Approx(0.6));
  CHECK(example(1000).step_s(shape) == doctest::Approx(0.4));
}

TEST_CASE("a bend below 1 slows what further replicas add, and neither first nor third") {
  StepTime bent = example(1);
  bent.bend = 0.5;
  CHECK(bent.sync_s({10, 0, 2, 2, Tier::rack}) == example(1).sync_s({10, 0, 2, 2, Tier::rack}));
  CHECK(bent.sync_s({10, 0, 3, 3, Tier::rack}) == example(1).sync_s({10, 0, 3, 3, Tier::rack}));
  CHECK(bent.sync_s({10, 0, 18, 18, Tier::rack}) == doctest::Approx(0.3 + 4 * 0.05));
}

TEST_CASE("more samples, gradients, replicas and a farther tier never make a step shorter") {
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    const StepTime time = random_time(rng);
    const StepShape shape{1 + 100 * rng.uniform(), static_cast<std::uint32_t>(rng.below(4)),
                          1 + static_cast<std::uint32_t>(rng.below(64)), 1, Tier::server};
    const double step = time.step_s(shape);
    StepShape more = shape;
    more.local_batch += 1;
    CHECK(time.step_s(more) >= step);
    more = shape;
    ++more.accumulation;
    CHECK(time.step_s(more) >= step);
    more = shape;
    ++more.replicas;
    CHECK(time.step_s(more) >= step);
    more = shape;
    for (const Tier tier : {Tier::rack, Tier::network}) {
      const double nearer = time.step_s(more);
      more.tier = tier;
      CHECK(time.step_s(more) >= nearer);
    }
    const double grad = time.grad_s(shape.local_batch);
    const double sync = time.sync_s(shape);
    CHECK(step >= (shape.accumulation + 1) * grad);
    CHECK(step <= (shape.accumulation + 1) * grad + sync + 1e-12);
  }
}
