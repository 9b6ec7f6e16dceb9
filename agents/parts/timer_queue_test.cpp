// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/timer_queue.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("each thing has one time, and the first due is looked at first") {
  TimerQueue<int> timers;
  CHECK(timers.next() == kNever);
  CHECK_FALSE(timers.due(Instant(100s)));
  Instant of_one = kNever, of_two = kNever;
  timers.move(1, of_one, Instant(5s));
  timers.move(2, of_two, Instant(3s));
  CHECK(of_one == Instant(5s));
  CHECK_FALSE(timers.due(Instant(2s)));
  CHECK(timers.due(Instant(3s)) == 2);
  CHECK(timers.due(Instant(9s)) == 2);  // until it is moved
  timers.move(2, of_two, Instant(7s));
  CHECK(timers.size() == 2);
  CHECK(timers.due(Instant(9s)) == 1);
  timers.move(1, of_one, kNever);
  CHECK(of_one == kNever);
  CHECK(timers.next() == Instant(7s));
  timers.move(2, of_two, Instant(7s));
  CHECK(timers.size() == 1);
}

}  // namespace
}  // namespace starling
