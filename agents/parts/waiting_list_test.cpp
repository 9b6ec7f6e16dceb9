// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/waiting_list.h"

#include <doctest/doctest.h>

#include <map>

#include "base/rng.h"

namespace starling {
namespace {

// The list against a plain map, under every mix of arrivals, returns and departures.
TEST_CASE("the list shows what waits, in order, whatever came and left before") {
  const JobSpec spec;
  Rng rng(5);
  WaitingList list;
  std::map<std::uint64_t, std::uint32_t> expected;  // failed_rounds by order
  std::uint64_t next = 1;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    // Long phases of growth and of decline, so that both ends of the list are reached.
    const std::uint32_t bias = (step / 1000) % 2 == 0 ? 7 : 3;
    if (rng.below(10) < bias) {
      JobView view;
      view.spec = &spec;
      view.failed_rounds = step;
      // A job that waits again has an old number.
      view.order = next > 1 && rng.chance(0.2) ? 1 + rng.below(static_cast<std::uint32_t>(next - 1))
                                               : next++;
      if (expected.contains(view.order)) continue;
      expected[view.order] = step;
      list.add(view);
    } else if (!expected.empty()) {
      auto which = expected.begin();
      if (rng.chance(0.3))
        std::advance(which, rng.below(static_cast<std::uint32_t>(expected.size())));
      CHECK(list.leave(which->first));
      CHECK(!list.leave(which->first));
      CHECK(list.find(which->first) == nullptr);
      expected.erase(which);
    }
    if (!rng.chance(0.3)) continue;
    const auto views = list.views();
    REQUIRE(views.size() == expected.size());
    auto known = expected.begin();
    for (const JobView& view : views) {
      REQUIRE(view.order == known->first);
      REQUIRE(view.failed_rounds == known->second);
      ++known;
    }
  }
  CHECK(list.find(next) == nullptr);
}

}  // namespace
}  // namespace starling
