// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/weighted_matching.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace starling;

namespace {

using Weights = std::vector<std::vector<double>>;

/// Of nodes from `first` on that are not `taken`, by trying all matchings.
double heaviest_by_trying(const Weights& weights, std::size_t first, unsigned taken) {
  while (first < weights.size() && (taken >> first & 1U) != 0) ++first;
  if (first >= weights.size()) return 0;
  double best = heaviest_by_trying(weights, first + 1, taken);
  for (std::size_t mate = first + 1; mate < weights.size(); ++mate) {
    if ((taken >> mate & 1U) != 0 || weights[first][mate] <= 0) continue;
    best = std::max(
        best, weights[first][mate] + heaviest_by_trying(weights, first + 1, taken | 1U << mate));
  }
  return best;
}

/// The weight of what is found, which must be a matching.
double found_weight(const Weights& weights) {
  const auto mates = heaviest_matching(weights.size(),
                                       [&](std::size_t u, std::size_t v) { return weights[u][v]; });
  REQUIRE(mates.size() == weights.size());
  double sum = 0;
  for (std::size_t u = 0; u < mates.size(); ++u) {
    if (mates[u] == kUnmatched) continue;
    REQUIRE(mates[u] < mates.size());
    REQUIRE(mates[u] != u);
    CHECK(mates[mates[u]] == u);
    CHECK(weights[u][mates[u]] > 0);
    if (u < mates[u]) sum += weights[u][mates[u]];
  }
  return sum;
}

/// `kinds` 0: all weights differ. Else nodes are of so many kinds, and weights are between kinds.
Weights random_weights(std::mt19937& random, std::size_t nodes, std::size_t kinds) {
  const std::size_t rows = kinds == 0 ? nodes : kinds;
  Weights between(rows, std::vector<double>(rows));
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = i; j < rows; ++j)
      between[i][j] = between[j][i] =
          random() % 4 == 0 ? 0 : 0.25 + static_cast<double>(random() % 1000) / 1000;
  std::vector<std::size_t> kind(nodes);
  for (std::size_t i = 0; i < nodes; ++i) kind[i] = kinds == 0 ? i : random() % kinds;
  Weights weights(nodes, std::vector<double>(nodes));
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = 0; j < nodes; ++j)
      if (i != j) weights[i][j] = between[kind[i]][kind[j]];
  return weights;
}

}  // namespace

TEST_CASE("a matching of ten nodes is as heavy as the heaviest of all") {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const Weights weights = random_weights(random, 1 + random() % 10, i % 2 == 0 ? 0 : 3);
    CHECK(found_weight(weights) == doctest::Approx(heaviest_by_trying(weights, 0, 0)));
  }
}

TEST_CASE("an odd circle leaves its lightest place out") {
  // A circle of five and a tail: a blossom, which is taken apart again to match the tail.
  Weights weights(6, std::vector<double>(6));
  const auto join = [&](std::size_t u, std::size_t v, double w) {
    weights[u][v] = weights[v][u] = w;
  };
  join(0, 1, 8);
  join(1, 2, 9);
  join(2, 3, 10);
  join(3, 4, 7);
  join(4, 0, 8);
  join(2, 5, 6);
  CHECK(found_weight(weights) == 21);  // 0-1, 3-4, 2-5
}

TEST_CASE("no node and no edge: none is matched") {
  CHECK(found_weight({}) == 0);
  CHECK(found_weight(Weights(3, std::vector<double>(3))) == 0);
}

TEST_CASE("256 nodes of eight kinds are all matched where all may be") {
  std::mt19937 random(2);
  Weights weights = random_weights(random, 256, 8);
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t j = 0; j < weights.size(); ++j)
      if (i != j && weights[i][j] == 0) weights[i][j] = 0.25;
  const auto mates = heaviest_matching(weights.size(),
                                       [&](std::size_t u, std::size_t v) { return weights[u][v]; });
  // Each pair is worth a quarter at least, so one pair more is heavier unless it costs more.
  CHECK(std::count(mates.begin(), mates.end(), kUnmatched) <= 2);
}
