// SPDX-License-Identifier: Apache-2.0
#include "interference/pace/server_curve.h"

#include <doctest/doctest.h>

using namespace starling;

TEST_CASE("Optimus' speeds of ResNet-50 by hand") {
  CHECK(kOptimusResnet50Async.speed(1, 1, 1) == doctest::Approx(1 / 6.86));
  CHECK(kOptimusResnet50Async.speed(20, 10, 1) == doctest::Approx(20 / (2.83 + 7.84 + 1.1)));
  // 1.02 * 64/8 + 2.78 + 4.92 * 2 + 0.02 * 4
  CHECK(kOptimusResnet50Sync.speed(8, 4, 64) == doctest::Approx(1 / 20.86));
}

TEST_CASE("workers alone soon stop to help, servers beside them do: the paper's point") {
  const auto speed = [](double workers, double servers) {
    return kOptimusResnet50Async.speed(workers, servers, 1);
  };
  // With 4 servers ten times the workers are worth less than twice the speed.
  CHECK(speed(40, 4) / speed(4, 4) < 2);
  CHECK(speed(40, 40) / speed(4, 4) > 5);
  // Of 40 containers neither most workers nor most servers are best.
  double best = 0;
  double at = 0;
  for (double workers = 1; workers < 40; ++workers) {
    if (speed(workers, 40 - workers) <= best) continue;
    best = speed(workers, 40 - workers);
    at = workers;
  }
  CHECK(at > 15);
  CHECK(at < 30);
}

TEST_CASE("synchronous: one batch on too many workers gets slower again") {
  const auto speed = [](double workers) { return kOptimusResnet50Sync.speed(workers, 4, 32); };
  CHECK(speed(4) > speed(1));
  CHECK(speed(32) < speed(4));
}
