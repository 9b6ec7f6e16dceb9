// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/rate_limit.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a caller has its burst at once, then its rate, and costs no other caller") {
  RateLimit limit(10, 5);
  Instant now{};
  for (int i = 0; i < 5; ++i) CHECK(limit.wait("ann", now) == Duration::zero());
  const Duration wait = limit.wait("ann", now);
  CHECK(seconds(wait) == doctest::Approx(0.1));
  CHECK(limit.wait("bob", now) == Duration::zero());
  now += wait;
  CHECK(limit.wait("ann", now) == Duration::zero());
  CHECK(limit.wait("ann", now) > Duration::zero());
  int passed = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    now += milliseconds(1);
    if (limit.wait("ann", now) == Duration::zero()) ++passed;
  }
  CHECK(passed == 100);
}

TEST_CASE("however many callers there are, memory is bounded") {
  RateLimit limit(1, 1);
  for (std::size_t i = 0; i < 3 * RateLimit::kMostCallers; ++i)
    CHECK(limit.wait("address " + std::to_string(i), Instant{}) == Duration::zero());
}

}  // namespace
}  // namespace starling
