// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/mixed_effects.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"

using namespace starling;

namespace {

ShiftPrior prior() {
  ShiftPrior out;
  out.slope_deviation.fill(0.1);
  out.slope_deviation[1] = 0.3;
  return out;
}

ShiftedPair pair_of(std::uint16_t victim, std::uint16_t other, double predicted = 0.4) {
  ShiftedPair out{victim, other, {}};
  out.features[0] = 1;
  out.features[1] = predicted;
  return out;
}

MixedEffects::Belief believed(const MixedEffects& effects, const ShiftedPair& pair) {
  return effects.believe({&pair, 1});
}

void learn(MixedEffects& effects, const ShiftedPair& pair, double log_ratio) {
  effects.observe({&pair, 1}, log_ratio);
}

/// The truth of these tests: a common shift, and one for each type.
double truth(const ShiftedPair& pair) {
  return -0.2 - 0.3 * pair.features[1] + 0.05 * (pair.victim % 3) - 0.04 * (pair.other % 2);
}

}  // namespace

TEST_CASE("a pair that was not measured profits from those that were, and is less unsure") {
  MixedEffects effects(prior());
  const ShiftedPair unseen = pair_of(1, 2, 0.5);
  const double before = believed(effects, unseen).variance;
  CHECK(believed(effects, unseen).mean == 0);
  Rng rng(2);
  for (int i = 0; i < 40; ++i) {
    const auto victim = static_cast<std::uint16_t>(rng.below(6));
    const auto other = static_cast<std::uint16_t>(rng.below(6));
    if (victim == 1 && other == 2) continue;
    const ShiftedPair pair = pair_of(victim, other, 0.2 + 0.1 * rng.below(6));
    learn(effects, pair, truth(pair) + 0.03 * rng.normal());
  }
  CHECK(believed(effects, unseen).mean == doctest::Approx(truth(unseen)).epsilon(0.15));
  CHECK(believed(effects, unseen).variance < 0.25 * before);
  // Types that were never met profit from what is common, and are told less surely.
  const ShiftedPair stranger = pair_of(70, 71, 0.5);
  CHECK(believed(effects, stranger).mean < -0.2);
  CHECK(believed(effects, stranger).variance > 2 * believed(effects, unseen).variance);
}

TEST_CASE("surprises that are too large widen all intervals, small ones narrow them") {
  MixedEffects wild(prior()), tame(prior());
  Rng rng(4);
  for (std::uint16_t i = 0; i < 60; ++i) {
    const ShiftedPair pair = pair_of(i % 8, i / 8, 0.3);
    learn(wild, pair, 0.6 * rng.normal());
    learn(tame, pair, 0.02 * rng.normal());
  }
  const ShiftedPair asked = pair_of(3, 70);
  CHECK(believed(wild, asked).variance > 4 * believed(tame, asked).variance);
}

TEST_CASE("one wild measurement moves a belief by a few deviations at most") {
  MixedEffects effects(prior());
  const ShiftedPair pair = pair_of(1, 2);
  const double deviation = std::sqrt(believed(effects, pair).variance + 0.05 * 0.05);
  learn(effects, pair, -1000);
  CHECK(std::abs(believed(effects, pair).mean) <= MixedEffects::kMostSurprise * deviation);
}

TEST_CASE("memory is bounded, however many types and pairs there are") {
  MixedEffects effects(prior());
  for (std::uint16_t i = 0; i < 3000; ++i) {
    const ShiftedPair pair = pair_of(i % 200, i / 15);
    learn(effects, pair, -0.1);
  }
  std::vector<std::byte> bytes;
  effects.save(bytes);
  const std::size_t n = kShiftFeatures + MixedEffects::kMostEffects;
  CHECK(bytes.size() <=
        8 * (10 + MixedEffects::kMostEffects + n + n * (n + 1) / 2 + 4 * MixedEffects::kMostPairs));
  CHECK(std::isfinite(believed(effects, pair_of(500, 501)).mean));
}

TEST_CASE("what was learned is taken up again to the bit; damaged bytes are refused") {
  MixedEffects effects(prior());
  for (std::uint16_t i = 0; i < 30; ++i) learn(effects, pair_of(i % 5, i % 7), -0.1 * (i % 3));
  std::vector<std::byte> bytes;
  effects.save(bytes);
  MixedEffects again(prior());
  std::size_t at = 0;
  REQUIRE(again.restore(bytes, at).ok());
  CHECK(at == bytes.size() / 8);
  const ShiftedPair asked = pair_of(2, 3);
  CHECK(believed(again, asked).mean == believed(effects, asked).mean);
  CHECK(believed(again, asked).variance == believed(effects, asked).variance);
  learn(effects, asked, -0.7), learn(again, asked, -0.7);
  CHECK(believed(again, asked).mean == believed(effects, asked).mean);

  for (const std::size_t words : {0U, 3U, 20U}) {
    MixedEffects cut(prior());
    at = 0;
    CHECK(!cut.restore(std::span(bytes).first(8 * words), at).ok());
  }
  std::vector<std::byte> foreign = bytes;
  foreign[0] ^= std::byte{1};
  at = 0;
  CHECK(!MixedEffects(prior()).restore(foreign, at).ok());
}
