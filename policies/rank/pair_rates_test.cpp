// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/pair_rates.h"

#include <doctest/doctest.h>

#include "policies/testing/battery.h"
#include "policies/testing/test_aborts.h"

namespace starling {
namespace {

/// As CrowdedSpeed, and learns.
struct LearningSpeed final : SpeedModel {
  explicit LearningSpeed(const Topology& topology) : base(topology) {}
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    return base.speed(job, placement, beside);
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return learned; }
  CrowdedSpeed base;
  std::uint64_t learned = 0;
};

TEST_CASE("rates are of the model that is there, and of kinds as it has them") {
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  const Occupancy empty(topology, {0, 2});
  const Shape shape = shape_of(empty);
  LearningSpeed speed(topology);
  JobSpec job;
  job.model = "resnet50";
  PairRates rates;
  const PairRates::Where where{speed, shape, empty};
  CHECK(aborts([&] { (void)rates.of(where, 0, 0, 0, 1); }));
  rates.refresh(speed);
  const std::uint32_t kind = rates.kind_of(job);
  const std::uint64_t version = rates.version();
  const PairRate rate = rates.of(where, kind, kind, 0, 1);
  CHECK(rate.one == rate.other);
  CHECK(rate.one < PairRates::kLeastSum / 2);  // half of its speed: they must not share
  rates.refresh(speed);
  CHECK(rates.version() == version);
  ++speed.learned;
  CHECK(aborts([&] { (void)rates.of(where, kind, kind, 0, 1); }));
  rates.refresh(speed);
  CHECK(rates.version() > version);
}

}  // namespace
}  // namespace starling
