// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/residuals.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"

using namespace starling;

namespace {

constexpr std::uint64_t kWeights = 42;
const Meeting kPair{3, 5, Relation::gpu, 2, 0.1};

}  // namespace

TEST_CASE("what is seen again and again is believed, and the variance falls") {
  Residuals residuals;
  Rng rng(1);
  const std::vector<Meeting> one{kPair};
  CHECK(residuals.correction(one) == 0);
  const double before = residuals.variance(one);
  for (int i = 0; i < 30; ++i) residuals.observe(one, -0.2 + 0.03 * rng.normal());
  CHECK(residuals.correction(one) == doctest::Approx(-0.2).epsilon(0.15));
  CHECK(residuals.variance(one) < 0.2 * before);
  // Half of it is the victim's; another pair of it profits, one that shares nothing does not.
  Meeting sibling = kPair, stranger = kPair;
  sibling.other = 6;
  stranger.victim = 9;
  CHECK(residuals.correction({&sibling, 1}) < -0.05);
  CHECK(residuals.correction({&stranger, 1}) == 0);
  CHECK(residuals.drifts() == 0);
}

TEST_CASE("a lasting change is told as drift, once, and learned; one wild measurement is not") {
  Residuals residuals;
  Rng rng(2);
  const std::vector<Meeting> one{kPair};
  for (int i = 0; i < 60; ++i) CHECK(!residuals.observe(one, 0.04 * rng.normal()));
  CHECK(!residuals.observe(one, -3));
  for (int i = 0; i < 60; ++i) residuals.observe(one, 0.04 * rng.normal());
  CHECK(residuals.drifts() == 0);
  for (int i = 0; i < 40; ++i) residuals.observe(one, -0.5 + 0.04 * rng.normal());
  CHECK(residuals.drifts() >= 1);
  CHECK(residuals.drifts() <= 3);
  CHECK(residuals.drifted().victim == kPair.victim);
  CHECK(residuals.correction(one) == doctest::Approx(-0.5).epsilon(0.1));
}

TEST_CASE("memory is bounded, and the longest unused goes first") {
  Residuals residuals;
  for (std::uint16_t victim = 0; victim < 5000; ++victim) {
    const Meeting meeting{victim, 1, Relation::host, 0, 0.1};
    residuals.observe({&meeting, 1}, -0.1);
  }
  CHECK(residuals.size() <= Residuals::kMost);
  const Meeting first{0, 1, Relation::host, 0, 0.1}, last{4999, 1, Relation::host, 0, 0.1};
  CHECK(residuals.correction({&first, 1}) == 0);
  CHECK(residuals.correction({&last, 1}) < 0);
}

TEST_CASE("the state comes back, and nothing else does") {
  Residuals residuals;
  for (int i = 0; i < 10; ++i) residuals.observe({&kPair, 1}, -0.3);
  const std::vector<std::byte> state = residuals.state(kWeights);
  Residuals again;
  REQUIRE(again.restore(state, kWeights).ok());
  CHECK(again.correction({&kPair, 1}) == residuals.correction({&kPair, 1}));
  CHECK(again.observed() == 10);
  CHECK(again.state(kWeights) == state);

  Residuals untouched;
  CHECK(!untouched.restore(state, kWeights + 1).ok());
  for (std::size_t size = 0; size < state.size(); ++size)
    CHECK(!untouched.restore(std::span(state).first(size), kWeights).ok());
  for (std::size_t at = 0; at < state.size(); ++at) {
    std::vector<std::byte> altered = state;
    altered[at] ^= std::byte{0x10};
    CHECK(!untouched.restore(altered, kWeights).ok());
  }
  CHECK(untouched.neutral());
}
