// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/pair_fit.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"

using namespace starling;

namespace {

std::vector<PairSample> samples_of(const std::vector<PairFigures>& truth) {
  std::vector<PairSample> out;
  for (std::size_t own = 0; own < truth.size(); ++own) {
    for (std::size_t other = 0; other < truth.size(); ++other) {
      const std::size_t pair = std::min(own, other) * truth.size() + std::max(own, other);
      out.push_back({own, other, pair_speed(truth[own], truth[other]), false, pair});
    }
  }
  return out;
}

std::vector<PairFigures> random_figures(std::size_t types, bool products) {
  Rng rng(7);
  std::vector<PairFigures> out(types);
  for (PairFigures& f : out) {
    f.keeps = 0.2 + 0.2 * rng.uniform();
    f.leaves = 0.2 + 0.3 * rng.uniform();
    if (!products) continue;
    f.sensitive[0] = 0.5 * rng.uniform();
    f.rough[0] = -0.5 * rng.uniform();
  }
  return out;
}

}  // namespace

TEST_CASE("the pair form finds again what it made, products and all, for pairs it has not seen") {
  const auto plain = samples_of(random_figures(16, false));
  CHECK(pair_error(fit_pairs(plain, 16, 0), plain) < 0.01);
  CHECK(withheld_pair_error(plain, 16, 0) < 0.015);

  const auto mixed = samples_of(random_figures(16, true));
  CHECK(pair_error(fit_pairs(mixed, 16, kPairTerms), mixed) < 0.015);
  CHECK(withheld_pair_error(mixed, 16, kPairTerms) < 0.025);
  CHECK(pair_error(fit_pairs(mixed, 16, kPairTerms), mixed) <
        pair_error(fit_pairs(mixed, 16, 0), mixed));
}

TEST_CASE("a clipped sample only says at least, one wild sample changes little") {
  auto samples = samples_of(random_figures(16, false));
  const double before = pair_speed(fit_pairs(samples, 16, 0)[3], fit_pairs(samples, 16, 0)[4]);
  for (PairSample& s : samples) {
    if (s.own != 3 || s.other != 4) continue;
    s.speed = 0.05;
    s.at_least = true;
  }
  auto figures = fit_pairs(samples, 16, 0);
  CHECK(pair_speed(figures[3], figures[4]) == doctest::Approx(before).epsilon(0.03));
  for (PairSample& s : samples) s.at_least = false;
  figures = fit_pairs(samples, 16, 0);
  CHECK(pair_speed(figures[3], figures[4]) == doctest::Approx(before).epsilon(0.1));
}

TEST_CASE("speeds stay in bounds whatever the figures") {
  CHECK(pair_speed({2, 2, {}, {}}, {2, 2, {}, {}}) == 1);
  CHECK(pair_speed({-2, 0, {}, {}}, {0, -2, {}, {}}) == kSlowestPair);
}
