// SPDX-License-Identifier: Apache-2.0
#include "gnn/speed_memo.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "interference/models.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

Topology mixed() {
  return generate_leaf_spine(
             {.groups = {{4, "V100"}, {4, "P100"}}, .gpus_per_server = 4, .servers_per_rack = 4})
      .value();
}

Neighbour any_job(Rng& rng, const Topology& topology) {
  const auto models = gavel_models();
  Neighbour out;
  out.job.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  const std::uint32_t count = 1 + rng.below(3);
  const std::uint32_t server = rng.below(topology.server_count());
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool far = rng.chance(0.2);
    const std::uint32_t s = far ? rng.below(topology.server_count()) : server;
    out.placement.emplace_back(s * 4 + rng.below(4));
  }
  std::sort(out.placement.begin(), out.placement.end());
  out.placement.erase(std::unique(out.placement.begin(), out.placement.end()), out.placement.end());
  out.job.gpus = out.job.asked = static_cast<std::uint32_t>(out.placement.size());
  return out;
}

TEST_CASE(
    "what is remembered is what the model says, beside any neighbour, and not more is asked") {
  const Topology topology = mixed();
  const auto physics = make_full_physics(topology);
  const auto model = make_true_speed(*physics);
  const SpeedMemo memo(topology, *model);
  Rng rng(1);
  std::uint32_t asked = 0;
  for (int i = 0; i < 20000; ++i) {
    const Neighbour self = any_job(rng, topology);
    Neighbours beside;
    for (std::uint32_t n = rng.below(6); n > 0; --n) beside.push_back(any_job(rng, topology));
    const Speed expected = model->speed(self.job, self.placement, beside);
    const Speed got = memo.speed(self.job, self.placement, beside);
    REQUIRE(got.relative == doctest::Approx(expected.relative).epsilon(1e-9));
    const std::uint64_t misses = memo.misses();
    std::reverse(beside.begin(), beside.end());
    REQUIRE(memo.speed(self.job, self.placement, beside).relative == got.relative);
    REQUIRE(memo.misses() == misses);
    ++asked;
  }
  CHECK(memo.misses() < asked);  // jobs alone on equal servers
  memo.forget();
  CHECK(memo.size() == 0);
}

TEST_CASE("equal servers answer for each other, unequal ones and other GPUs do not") {
  const Topology topology = mixed();
  const auto model = make_analytic_speed(topology);
  const SpeedMemo memo(topology, *model);
  JobProfile job;
  job.model = "ResNet-50 (batch size 64)";
  job.gpus = job.asked = 2;
  const auto asks = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t before = memo.misses();
    (void)memo.speed(job, {GpuId{a}, GpuId{b}}, {});
    return memo.misses() > before;
  };
  CHECK(asks(0, 1));
  CHECK_FALSE(asks(0, 1));
  CHECK_FALSE(asks(4, 5));
  CHECK(asks(16, 17));  // P100
  CHECK(asks(0, 2));
  CHECK(asks(0, 4));
  CHECK(asks(4, 8));  // several servers stand for themselves
  job.cpus_per_gpu = 8;
  CHECK(asks(0, 1));
}

}  // namespace
}  // namespace starling
