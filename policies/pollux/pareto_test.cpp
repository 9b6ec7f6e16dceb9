// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/pareto.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

using namespace starling;

namespace {

/// Front after front is taken away.
std::vector<std::uint32_t> ranks_by_peeling(const std::vector<TwoGoals>& plans) {
  std::vector<std::uint32_t> rank(plans.size(), ~0U);
  for (std::uint32_t front = 0; std::ranges::find(rank, ~0U) != rank.end(); ++front) {
    const std::vector<std::uint32_t> before = rank;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      bool dominated = false;
      for (std::size_t j = 0; j < plans.size(); ++j)
        dominated = dominated || (before[j] == ~0U && dominates(plans[j], plans[i]));
      if (before[i] == ~0U && !dominated) rank[i] = front;
    }
  }
  return rank;
}

}  // namespace

TEST_CASE("ranks are those of taking front after front away, ties among them") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<TwoGoals> plans(1 + rng.below(40));
    for (TwoGoals& plan : plans)
      plan = {static_cast<double>(rng.below(8)), static_cast<double>(rng.below(8))};
    const auto places = pareto_places(plans);
    const auto expected = ranks_by_peeling(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) CHECK(places[i].rank == expected[i]);
  }
}

TEST_CASE("the ends of a front have most space, its middle as much as its neighbours leave") {
  const std::vector<TwoGoals> plans = {{0, 10}, {10, 0}, {4, 6}, {1, 1}};
  const auto places = pareto_places(plans);
  CHECK(std::isinf(places[0].crowding));
  CHECK(std::isinf(places[1].crowding));
  CHECK(places[2].crowding == doctest::Approx(2));
  CHECK(places[3].rank == 1);
}

TEST_CASE("the best are the first fronts, and of the last those with most space") {
  const std::vector<TwoGoals> plans = {{0, 10}, {5, 5}, {5.1, 4.9}, {10, 0}, {0, 0}};
  const auto kept = pareto_best(pareto_places(plans), 3);
  CHECK(kept.size() == 3);
  CHECK(std::ranges::find(kept, 0U) != kept.end());
  CHECK(std::ranges::find(kept, 3U) != kept.end());
  CHECK(std::ranges::find(kept, 4U) == kept.end());
  CHECK(pareto_best(pareto_places(plans), 9).size() == 5);
}
