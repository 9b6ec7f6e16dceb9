// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/scaled_clock.h"

#include <doctest/doctest.h>

#include "launch/deployment/transport.h"

using namespace starling;
using namespace std::chrono_literals;

TEST_CASE("waking when the machine says so is never too early") {
  const ScaledClock clock(377.7);
  for (const Duration d : {Duration{1}, Duration{378}, Duration{10ms}, Duration{24h}}) {
    const Instant at = later(clock.now(), d);
    const Instant machine = clock.on_machine(at);
    CHECK(machine > machine_clock().now() - 1ms);
    CHECK(seconds(machine - machine_clock().now()) < seconds(d) / 377.7 + 0.001);
  }
  CHECK(clock.on_machine(kNever) == kNever);
}

TEST_CASE("timers keep their length on the machine, within what others believe") {
  const Timers plain;
  const Timers same = stretched(plain, 1);
  CHECK(same.heartbeat == plain.heartbeat);
  CHECK(same.digest == plain.digest);
  CHECK(same.hold == plain.hold);
  const Timers fast = stretched(plain, 100'000);
  CHECK(fast.heartbeat == plain.heartbeat * 100'000);
  CHECK(fast.digest == 30s);
  CHECK(fast.hold == 12h);
}
