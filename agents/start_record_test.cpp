// SPDX-License-Identifier: Apache-2.0
#include "agents/start_record.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

Instant at(Duration d) { return Instant(d); }

TEST_CASE("two failed starts are nothing, the third brings a rest") {
  StartRecord record;
  record.failed(at(0s), "a");
  record.failed(at(1s), "b");
  CHECK_FALSE(record.resting());
  CHECK(record.text(at(1s)).empty());
  CHECK(record.next() == kNever);
  record.failed(at(2s), "no space");
  CHECK(record.resting());
  CHECK(record.next() == at(3s));
  CHECK(record.text(at(2s)) ==
        "3 starts in a row have failed, the last: no space; tried again in 1 s");
  CHECK_FALSE(record.tick(at(2999ms)));
  CHECK(record.tick(at(3s)));
  CHECK_FALSE(record.resting());
}

TEST_CASE("after a rest one start is a probe, and rests double up to a minute") {
  StartRecord record;
  for (int i = 0; i < 3; ++i) record.failed(at(0s), "no space");
  Duration now = 0s;
  for (const Duration rest : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}) {
    CAPTURE(rest.count());
    CHECK(record.next() == at(now + rest));
    now += rest;
    REQUIRE(record.tick(at(now)));
    record.began(at(now));
    CHECK(record.resting());
    record.failed(at(now + 1ms), "no space");
    now += 1ms;
  }
  now += 60s;
  REQUIRE(record.tick(at(now)));
  record.began(at(now));
  CHECK_FALSE(record.tick(at(now + 2999ms)));
  CHECK(record.tick(at(now + 3s)));  // it runs
  CHECK_FALSE(record.resting());
  CHECK(record.failures() == 0);
}

TEST_CASE("a start that has gone well ends the row") {
  StartRecord record;
  record.failed(at(0s), "a");
  record.failed(at(0s), "a");
  record.went_well();
  record.failed(at(1s), "a");
  record.failed(at(1s), "a");
  CHECK_FALSE(record.resting());
  record.failed(at(1s), "a");
  CHECK(record.resting());
  record.went_well();  // of one that was started before
  CHECK_FALSE(record.resting());
  record.began(at(2s));
  CHECK_FALSE(record.resting());
}

TEST_CASE("what was under way when a rest began makes it neither longer nor shorter") {
  StartRecord record;
  for (int i = 0; i < 8; ++i) record.failed(at(i * 10ms), "a");
  CHECK(record.next() == at(1020ms));
  CHECK(record.failures() == 8);
  record.began(at(30ms));
  CHECK(record.next() == at(1020ms));
}

}  // namespace
}  // namespace starling
