// SPDX-License-Identifier: Apache-2.0
#include "sim/world/queue.h"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "base/rng.h"

namespace starling {
namespace {

TEST_CASE("events come by instant, then by kind, then in the order of their pushes") {
  using Key = std::tuple<std::int64_t, EventKind, std::uint32_t>;
  EventQueue queue;
  std::set<Key> waiting;
  Rng rng(11);
  std::uint32_t pushed = 0;
  const auto take = [&] {
    const SimEvent event = queue.pop();
    const Key first = *waiting.begin();
    REQUIRE(Key{event.at.time_since_epoch().count(), event.kind(), event.token} == first);
    waiting.erase(waiting.begin());
  };
  for (int i = 0; i < 20'000; ++i) {
    if (!waiting.empty() && rng.chance(i < 12'000 ? 0.4 : 0.6)) {
      take();
    } else {
      // Few instants, so that many are equal.
      const std::int64_t at = rng.below(50);
      const auto kind = static_cast<EventKind>(rng.below(8));
      queue.push(Instant(Duration(at)), kind, 1, pushed);
      waiting.insert({at, kind, pushed++});
    }
    REQUIRE(queue.size() == waiting.size());
    if (!waiting.empty())
      CHECK(queue.top().at.time_since_epoch().count() == std::get<0>(*waiting.begin()));
  }
  while (!waiting.empty()) take();
  CHECK(queue.empty());
}

}  // namespace
}  // namespace starling
