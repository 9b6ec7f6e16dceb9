// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/passing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace starling {
namespace {

TEST_CASE("a job is passed by if one that came later and is no more urgent has started") {
  Rng rng(3);
  Passing passing;
  std::vector<std::pair<std::int32_t, std::uint64_t>> all;
  for (int i = 0; i < 2000; ++i) {
    const auto priority = static_cast<std::int32_t>(rng.below(9)) - 4;
    const std::uint64_t order = rng.below(1000);
    const bool truth = std::any_of(all.begin(), all.end(), [&](const auto& one) {
      return one.first <= priority && one.second > order;
    });
    REQUIRE(passing.has_passed(priority, order) == truth);
    if (!rng.chance(0.1)) continue;
    passing.started(priority, order);
    all.emplace_back(priority, order);
  }
  CHECK(passing.size() <= 9);
}

TEST_CASE("what is kept is bounded, whatever priorities people think of") {
  Passing passing;
  for (std::int32_t p = 0; p < 10'000; ++p) passing.started(p, static_cast<std::uint64_t>(p) + 1);
  CHECK(passing.size() == Passing::kMost);
  CHECK(passing.has_passed(20'000, 5));
}

}  // namespace
}  // namespace starling
