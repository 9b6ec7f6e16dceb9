// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/knapsack.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"

namespace starling {
namespace {

Knapsack random_knapsack(Rng& rng, std::uint32_t items, std::uint32_t most_choices) {
  Knapsack k;
  k.capacity = {20 + 10 * rng.uniform(), 20 + 10 * rng.uniform()};
  for (std::uint32_t i = 0; i < items; ++i) {
    Knapsack::Item item;
    for (std::uint32_t c = 1 + rng.below(most_choices); c > 0; --c)
      item.push_back({rng.uniform(), {1 + 12 * rng.uniform(), 1 + 12 * rng.uniform()}});
    k.items.push_back(std::move(item));
  }
  return k;
}

/// The most that items from `i` on can gain in what is left.
double brute(const Knapsack& k, std::size_t i, std::vector<double> left) {
  if (i == k.items.size()) return 0;
  double best = brute(k, i + 1, left);
  for (const Knapsack::Choice& c : k.items[i]) {
    if (c.needs[0] > left[0] || c.needs[1] > left[1]) continue;
    best = std::max(best, c.gain + brute(k, i + 1, {left[0] - c.needs[0], left[1] - c.needs[1]}));
  }
  return best;
}

bool within(const Knapsack& k, const KnapsackAnswer& answer) {
  std::vector<double> used(k.capacity.size(), 0.0);
  for (std::size_t i = 0; i < answer.size(); ++i) {
    if (!answer[i]) continue;
    for (std::size_t r = 0; r < used.size(); ++r) used[r] += k.items[i][*answer[i]].needs[r];
  }
  return used[0] <= k.capacity[0] + 1e-6 && used[1] <= k.capacity[1] + 1e-6;
}

TEST_CASE("the outer problem is within its bound of the best: 1 - R/(q+1), and 1/(R+1) always") {
  Rng rng(1);
  for (const std::uint32_t choices : {1U, 3U}) {
    double worst[4] = {1, 1, 1, 1};
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t items = choices == 1 ? 4 + rng.below(11) : 3 + rng.below(5);
      const Knapsack k = random_knapsack(rng, items, choices);
      const double best = brute(k, 0, k.capacity);
      for (std::size_t q = 0; q <= 3; ++q) {
        const KnapsackAnswer answer = fill_knapsack(k, {q, 1'000'000});
        REQUIRE(within(k, answer));
        const double part = gain_of(k, answer) / best;
        const double bound = std::max(1.0 / 3, 1 - 2.0 / static_cast<double>(q + 1));
        REQUIRE(part >= bound - 1e-9);
        REQUIRE(part <= 1 + 1e-9);
        worst[q] = std::min(worst[q], part);
      }
    }
    MESSAGE("worst of 60 by q, " << choices << " choices at most: " << worst[0] << ", " << worst[1]
                                 << ", " << worst[2] << ", " << worst[3]);
    CHECK(worst[3] >= worst[0]);
    CHECK(worst[3] > 0.9);
  }
}

// Not that the answer grows with the capacity: with more room other programs are solved and
// rounded.
TEST_CASE("more capacity: what was in fits still, so the best of both answers never falls") {
  Rng rng(2);
  int fell = 0;
  for (int i = 0; i < 300; ++i) {
    Knapsack k = random_knapsack(rng, 12, 1);
    const KnapsackAnswer less = fill_knapsack(k, {1, 1'000'000});
    const double before = brute(k, 0, k.capacity);
    k.capacity[0] += 5 * rng.uniform();
    k.capacity[1] += 5 * rng.uniform();
    REQUIRE(within(k, less));
    REQUIRE(brute(k, 0, k.capacity) >= before);
    fell += gain_of(k, fill_knapsack(k, {1, 1'000'000})) < gain_of(k, less) - 1e-9 ? 1 : 0;
  }
  MESSAGE("the answer itself fell with more capacity in " << fell << " of 300 cases");
  CHECK(fell < 30);
}

TEST_CASE("the unit of gains does not matter, however small they are") {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    Knapsack k = random_knapsack(rng, 14, 2);
    const KnapsackAnswer answer = fill_knapsack(k, {0, 1'000'000});
    for (Knapsack::Item& item : k.items) {
      for (Knapsack::Choice& c : item) c.gain *= 0x1p-33;  // exact, about 1e-10
    }
    REQUIRE(fill_knapsack(k, {0, 1'000'000}) == answer);
  }
}

TEST_CASE("nothing fits, nothing gains, one job of two forms") {
  Knapsack k;
  k.capacity = {4, 4};
  k.items = {{{1, {5, 1}}}, {{0, {1, 1}}}, {}};
  CHECK(fill_knapsack(k) == KnapsackAnswer(3));
  k.items = {{{1, {2, 2}}, {1.5, {4, 4}}}, {{0.8, {2, 2}}}};
  CHECK(fill_knapsack(k) == KnapsackAnswer{0, 0});
  k.items = {{{1, {2, 2}}, {2, {4, 4}}}, {{0.8, {2, 2}}}};
  CHECK(fill_knapsack(k) == KnapsackAnswer{1, std::nullopt});
}

TEST_CASE("where there are too many for one program, those of most gain for their share stay") {
  Knapsack k;
  k.capacity = {10, 10};
  for (int i = 0; i < 100; ++i) k.items.push_back({{1.0 + (i == 50 ? 1 : 0), {5, 5}}});
  const KnapsackAnswer answer = fill_knapsack(k, {2, 10});
  CHECK(gain_of(k, answer) == 3);
  CHECK(answer[50].has_value());
}

}  // namespace
}  // namespace starling
