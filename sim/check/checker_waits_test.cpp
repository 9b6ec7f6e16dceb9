// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/check/healthy_world_test.h"

namespace starling {
namespace {

TEST_CASE("S24: a job starts that is held, or before another one has ended as it was to") {
  HealthyWorld h;
  JobSpec spec;
  spec.id = {0, 9};
  const JobId other{0, 8};
  const auto accept = [&] {
    h.write(kA, JobAccepted{{spec, NodeId{0x0200'0000}, Duration{0}, Duration{0}, 0}, 9});
  };
  const auto start = [&] {
    h.write(kA, AttemptStarting{{spec.id, Epoch{1}, 1}, {{PartitionId{0}, gpus({2})}}});
  };
  const auto other_ends = [&](JobPhase phase) {
    h.accept(kB, other);
    JobState over;
    over.job = other, over.phase = phase;
    h.checker.excuse("S16");  // no process of it was shown
    h.write(kB, JobEnded{other, over});
  };
  SUBCASE("held") {
    spec.terms.hold = true;
    accept();
    start();
    CHECK(h.caught("S24"));
  }
  SUBCASE("held later") {
    accept();
    h.write(kA, JobStanding{spec.id, true, 0, 0, Duration{-1}, {}});
    start();
    CHECK(h.caught("S24"));
  }
  SUBCASE("released") {
    spec.terms.hold = true;
    accept();
    h.write(kA, JobStanding{spec.id, false, 0, 0, Duration{-1}, {}});
    start();
    CHECK_FALSE(h.checker.violation());
  }
  SUBCASE("the other has not ended") {
    spec.terms.after = {{After::How::any, other}};
    accept();
    start();
    CHECK(h.caught("S24"));
  }
  SUBCASE("the other has failed") {
    spec.terms.after = {{After::How::ok, other}};
    accept();
    other_ends(JobPhase::failed);
    start();
    CHECK(h.caught("S24"));
  }
  SUBCASE("the other has failed, as it was to") {
    spec.terms.after = {{After::How::not_ok, other}};
    accept();
    other_ends(JobPhase::failed);
    start();
    CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
  }
}

}  // namespace
}  // namespace starling
