// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "base/hash.h"
#include "base/ids.h"
#include "base/rng.h"
#include "base/time.h"

using namespace starling;

TEST_CASE("a job id survives being written and read; anything else is refused") {
  const JobId id{0x0123456789abcdefULL, 42};
  CHECK(parse_job_id(to_string(id)).value() == id);
  CHECK(parse_job_id("2a").value() == JobId{0, 42});
  for (const char* bad : {"", "xyz", "-1", " 1", "000000000000000000000000000000001"}) {
    CAPTURE(bad);
    CHECK(parse_job_id(bad).error().code == Errc::invalid);
  }
}

TEST_CASE("PCG32 gives the published numbers for the published seed") {
  Rng rng(42, 54);  // the demonstration in O'Neill's pcg32-demo
  CHECK(rng.next() == 0xa15c02b7U);
  CHECK(rng.next() == 0x7b47f409U);
  CHECK(rng.next() == 0xba1d3330U);
}

TEST_CASE(
    "below() stays below and reaches every value; forks differ and do not advance the parent") {
  Rng rng(7);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(rng.below(5));
  CHECK(seen == std::set<std::uint32_t>{0, 1, 2, 3, 4});

  Rng twin = rng;
  Rng a = rng.fork(1);
  Rng b = rng.fork(2);
  CHECK(a.next() != b.next());
  CHECK(rng.next() == twin.next());
}

TEST_CASE("distributions have the moments they claim") {
  Rng rng(11);
  double exponential = 0;
  double normal = 0;
  double square = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    exponential += rng.exponential();
    const double x = rng.normal();
    normal += x;
    square += x * x;
  }
  CHECK(exponential / kDraws == doctest::Approx(1).epsilon(0.01));
  CHECK(normal / kDraws == doctest::Approx(0).epsilon(0.01).scale(1));
  CHECK(square / kDraws == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("seconds convert to the nearest nanosecond and saturate") {
  CHECK(from_seconds(1.5) == std::chrono::milliseconds(1500));
  CHECK(from_seconds(1e30) == Duration::max());
  CHECK(later(Instant(Duration(5)), Duration::max()) == kNever);
  CHECK(seconds(std::chrono::minutes(2)) == 120.0);
}

TEST_CASE("the trace hash depends on order and on boundaries") {
  TraceHash ab, ba, joined;
  ab.add("a"), ab.add("b");
  ba.add("b"), ba.add("a");
  joined.add("ab");
  CHECK(ab.value() != ba.value());
  CHECK(ab.value() != joined.value());
}
