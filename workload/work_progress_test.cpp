// SPDX-License-Identifier: Apache-2.0
#include "workload/work_progress.h"

#include <doctest/doctest.h>

#include <chrono>

#include "base/rng.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {
Instant at(Duration d) { return Instant{} + d; }
}  // namespace

TEST_CASE("at rate 1 work is time, to the nanosecond, from when the processes work") {
  WorkProgress job(100s, at(3s));
  CHECK(job.end() == at(103s));
  CHECK(job.account(at(2s)) == 0s);
  CHECK(job.counted_to() == at(3s));
  CHECK(job.uncounted(at(10s) + 1ns) == 7s + 1ns);
  CHECK(job.account(at(10s) + 1ns) == 7s + 1ns);
  CHECK(job.account(at(10s) + 1ns) == 0s);
  CHECK(job.done() == 7s + 1ns);
  CHECK(job.left() == 93s - 1ns);
  CHECK(job.end() == at(103s));
  CHECK(job.account(at(200s)) == 93s - 1ns);
  CHECK(job.left() == 0s);
}

TEST_CASE("a changed rate counts from that instant on, and what was done stays") {
  WorkProgress job(100s, at(0s), 0.5);
  CHECK(job.end() == at(200s));
  CHECK(job.set_rate(at(100s), 2) == 50s);
  CHECK(job.end() == at(125s));
  CHECK(job.set_rate(at(100s), 0.25) == 0s);
  CHECK(job.end() == at(300s));
}

TEST_CASE("a rate that is set before the work begins leaves its beginning") {
  WorkProgress job(100s, at(10s), 0);
  CHECK(job.end() == kNever);
  CHECK(job.set_rate(at(4s), 0.5) == 0s);
  CHECK(job.end() == at(210s));
}

TEST_CASE("what stands still does nothing") {
  WorkProgress job(10s, at(0s));
  SUBCASE("by its rate") {
    job.set_rate(at(4s), 0);
    job.set_rate(at(9s), 1);
  }
  SUBCASE("because it is counted only when it goes on") {
    job.account(at(4s));
    job.resume(at(9s));
  }
  CHECK(job.done() == 4s);
  CHECK(job.end() == at(15s));
}

TEST_CASE("finishing does what is left, whatever was counted") {
  WorkProgress job(10s, at(0s), 1.0 / 3);
  job.account(at(10s));
  const Duration left = job.left();
  CHECK(job.finish(at(30s)) == left);
  CHECK(job.done() == 10s);
  CHECK(job.left() == 0s);
  CHECK(job.counted_to() == at(30s));
}

TEST_CASE("no rounding ends a job early or loses any of its work") {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const Duration work(1 + rng.below(1'000'000'000));
    WorkProgress job(work, at(0s), 0.01 + rng.uniform() * 4);
    Instant now = at(0s);
    for (int k = 0; k < 4; ++k) {
      now += Duration(rng.below(100'000'000));
      job.set_rate(now, 0.01 + rng.uniform() * 4);
      REQUIRE(job.done() + job.left() == work);
    }
    const Instant end = job.end();
    if (job.left() > 0ns) CHECK(job.uncounted(end - 1ns) < job.left());
    CHECK(job.left() - job.uncounted(end) <= 1ns);
  }
}

TEST_CASE("times beyond all time are never, and no work overflows") {
  WorkProgress slow(std::chrono::hours(100'000), at(0s), 1e-9);
  CHECK(slow.end() == kNever);
  WorkProgress fast(100s, at(0s), 1e12);
  CHECK(fast.uncounted(at(std::chrono::hours(1000))) == 100s);
  CHECK(WorkProgress(-5s, at(1s)).end() == at(1s));
}
