// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/adaptive_corrections.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"

using namespace starling;

namespace {

constexpr std::uint64_t kWeights = 7;
constexpr std::uint8_t kKnown = 2, kNew = 5;
constexpr std::uint32_t kTypes = 12;

AdaptiveCorrections corrections() {
  ShiftPrior prior;
  prior.profile_scale.fill(1);
  prior.slope_deviation.fill(0.1);
  AdaptiveCorrections::Profiles profiles(kTypes);
  Rng rng(9);
  for (auto& profile : profiles) {
    for (float& value : profile) value = static_cast<float>(rng.normal());
  }
  return {prior, profiles, 1U << kKnown};
}

Meeting meeting(std::uint32_t victim, std::uint32_t other, std::uint8_t kind = kKnown) {
  return {static_cast<std::uint16_t>(victim),
          static_cast<std::uint16_t>(other),
          Relation::gpu,
          kind,
          0.08,
          0.1 + 0.05 * victim};
}

/// Measures pairs of the types at random, `shift` off what is predicted.
template <class Observe>
void measure(std::uint64_t seed, int times, double shift, const Observe& observe) {
  Rng rng(seed);
  for (int i = 0; i < times; ++i)
    observe(meeting(rng.below(kTypes), rng.below(kTypes)), shift + 0.05 * rng.normal());
}

}  // namespace

TEST_CASE("while the network's intervals hold the answers are those of residuals, to the bit") {
  AdaptiveCorrections adaptive = corrections();
  Residuals residuals;
  measure(1, 300, 0, [&](const Meeting& m, double ratio) {
    adaptive.observe({&m, 1}, ratio);
    residuals.observe({&m, 1}, ratio);
  });
  CHECK(!adaptive.adapted(kKnown));
  CHECK(adaptive.drifts() == 0);
  for (std::uint32_t victim = 0; victim < kTypes; ++victim) {
    const Meeting m = meeting(victim, 3);
    CHECK(adaptive.correction({&m, 1}) == residuals.correction({&m, 1}));
    CHECK(adaptive.variance({&m, 1}) == residuals.variance({&m, 1}));
  }
}

TEST_CASE(
    "after a change it is told, intervals widen, and pairs that were never measured are right") {
  AdaptiveCorrections adaptive = corrections();
  const auto observe = [&](const Meeting& m, double ratio) { adaptive.observe({&m, 1}, ratio); };
  measure(1, 100, 0, observe);
  const Meeting unseen = meeting(4, 11);
  int taken = 0;
  Rng rng(2);
  while (!adaptive.adapted(kKnown) && taken < 40) {
    ++taken;
    observe(meeting(rng.below(3), rng.below(kTypes)), -0.5);
  }
  CHECK(taken <= 10);
  CHECK(adaptive.drifts() >= 1);
  CHECK(adaptive.drifted().victim < 3);
  // What was measured since the change counts already, and the rest is unsure.
  CHECK(adaptive.correction({&unseen, 1}) < -0.05);
  CHECK(adaptive.variance({&unseen, 1}) > 4 * 0.08 * 0.08 / 2);
  measure(3, 40, -0.5, observe);
  CHECK(adaptive.correction({&unseen, 1}) == doctest::Approx(-0.5).epsilon(0.25));
  // Another change is told again.
  const std::uint64_t drifts = adaptive.drifts();
  measure(4, 60, 0.3, observe);
  CHECK(adaptive.drifts() > drifts);
  CHECK(adaptive.correction({&unseen, 1}) > 0.1);
}

TEST_CASE("a kind of GPU without training data begins at the prior; others are not touched") {
  AdaptiveCorrections adaptive = corrections();
  CHECK(adaptive.adapted(kNew));
  CHECK(!adaptive.adapted(kKnown));
  const Meeting there = meeting(1, 2, kNew), here = meeting(1, 2);
  CHECK(adaptive.variance({&there, 1}) > 3 * adaptive.variance({&here, 1}));
  for (int i = 0; i < 5; ++i) adaptive.observe({&there, 1}, -0.4);
  CHECK(adaptive.relearned() == 1);  // with another width, at the fourth
  CHECK(adaptive.correction({&there, 1}) == doctest::Approx(-0.4).epsilon(0.2));
  CHECK(adaptive.correction({&here, 1}) == 0);
  CHECK(adaptive.drifts() == 0);
}

TEST_CASE("of a job beside others on its GPU and on its server each learns its part") {
  AdaptiveCorrections adaptive = corrections();
  Meeting crowd{1, 3, Relation::host, kNew, 0.06};
  for (int i = 0; i < 60; ++i) {
    const Meeting both[] = {meeting(1, 2, kNew), crowd};
    const Meeting shared = both[0];
    adaptive.observe({&shared, 1}, -0.3);
    adaptive.observe(both, -0.4);
  }
  const Meeting shared = meeting(1, 2, kNew);
  CHECK(adaptive.correction({&shared, 1}) == doctest::Approx(-0.3).epsilon(0.15));
  CHECK(adaptive.correction({&crowd, 1}) < -0.05);
}

TEST_CASE("it goes on after a restart as if there had been none; damaged bytes change nothing") {
  AdaptiveCorrections adaptive = corrections();
  CHECK(adaptive.state(kWeights).empty());
  const auto observe = [&](const Meeting& m, double ratio) { adaptive.observe({&m, 1}, ratio); };
  measure(1, 60, 0, observe);
  measure(2, 3, -0.5, observe);  // within a change that is not told yet
  const std::vector<std::byte> state = adaptive.state(kWeights);
  AdaptiveCorrections again = corrections();
  REQUIRE(again.restore(state, kWeights).ok());
  for (int round = 0; round < 2; ++round) {
    measure(3, 25, -0.5, [&](const Meeting& m, double ratio) {
      CHECK(adaptive.observe({&m, 1}, ratio) == again.observe({&m, 1}, ratio));
      CHECK(adaptive.correction({&m, 1}) == again.correction({&m, 1}));
    });
    CHECK(adaptive.adapted(kKnown));
    CHECK(adaptive.state(kWeights) == again.state(kWeights));
    AdaptiveCorrections third = corrections();
    REQUIRE(third.restore(adaptive.state(kWeights), kWeights).ok());
    CHECK(third.state(kWeights) == adaptive.state(kWeights));
  }
  const std::vector<std::byte> whole = adaptive.state(kWeights);
  AdaptiveCorrections untouched = corrections();
  CHECK(!untouched.restore(whole, kWeights + 1).ok());
  for (std::size_t cut = 0; cut < whole.size(); cut += 8 * 97)
    CHECK((cut == 0 || !untouched.restore(std::span(whole).first(cut), kWeights).ok()));
  for (std::size_t at = 0; at < whole.size(); at += 1013) {
    std::vector<std::byte> altered = whole;
    altered[at] ^= std::byte{4};
    CHECK(!untouched.restore(altered, kWeights).ok());
  }
  CHECK(untouched.observed() == 0);
}

TEST_CASE("pairs that run for hours and are known do not drown what is found of new ones") {
  AdaptiveCorrections adaptive = corrections();
  int pairs = 0;
  for (std::uint32_t victim = 0; victim < kTypes && !adaptive.adapted(kKnown); ++victim, ++pairs) {
    const Meeting m = meeting(victim, (victim + 5) % kTypes);
    for (int i = 0; i < 40; ++i) adaptive.observe({&m, 1}, -0.5 + 0.01 * (i % 3));
  }
  CHECK(adaptive.adapted(kKnown));
  CHECK(pairs <= 6);
}
