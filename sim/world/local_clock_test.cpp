// SPDX-License-Identifier: Apache-2.0
#include "sim/world/local_clock.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a clock at rate 1 is world time; others run fast or slow, and never back") {
  LocalClock clock;
  CHECK(clock.at(Instant(7s)) == Instant(7s));
  CHECK(clock.when(Instant(7s)) == Instant(7s));
  CHECK(clock.when(kNever) == kNever);
  CHECK(clock.when(Instant::min()) == Instant{});
  clock.set_rate(Instant(10s), 1.2);
  CHECK(clock.at(Instant(20s)) == Instant(22s));
  const Instant due(33'333'333'333ns);
  CHECK(clock.at(clock.when(due)) >= due);
  CHECK(clock.at(clock.when(due) - 2ns) < due);
  clock.set_rate(Instant(35s), 1);
  CHECK(clock.at(Instant(36s)) == Instant(41s));
}

}  // namespace
}  // namespace starling
