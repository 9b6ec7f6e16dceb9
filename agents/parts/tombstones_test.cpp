// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/tombstones.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

AttemptId attempt(std::uint64_t n) { return {{0, n}, Epoch{1}, 1}; }
Instant at(Duration d) { return Instant(d); }

/// Three that were over at 1, 2 and 3 s; the second is in memory alone.
struct Three {
  Three() {
    for (std::uint64_t n = 1; n <= 3; ++n)
      stones.add(attempt(n), {0s, at(std::chrono::seconds(n)), n != 2});
  }
  [[nodiscard]] std::vector<std::uint64_t> order() const {
    std::vector<std::uint64_t> jobs;
    for (const AttemptId& one : stones.order()) jobs.push_back(one.job.lo);
    return jobs;
  }
  Tombstones stones{3};
};

TEST_CASE("a sweep drops what is old and not asked for, and gives back what the journal has") {
  Three t;
  CHECK(t.stones.sweep(at(3s), [](AttemptId) { return false; }) == std::vector{attempt(1)});
  CHECK(t.order() == std::vector<std::uint64_t>{3});
  CHECK(t.stones.size() == 1);
}

TEST_CASE("what a sweep keeps stays in its place and is looked at again") {
  Three t;
  const auto wanted = [](AttemptId one) { return one == attempt(1); };
  CHECK(t.stones.sweep(at(3s), wanted).empty());
  CHECK(t.order() == std::vector<std::uint64_t>{1, 3});
  CHECK(t.stones.sweep(at(3s), [](AttemptId) { return false; }) == std::vector{attempt(1)});
}

TEST_CASE("what a journal has dropped is gone, in order and by name") {
  Three t;
  const AttemptId gone[] = {attempt(1), attempt(9)};
  t.stones.drop(gone);
  CHECK(t.order() == std::vector<std::uint64_t>{2, 3});
  CHECK_FALSE(t.stones.contains(attempt(1)));
  CHECK(t.stones.contains(attempt(2)));
}

TEST_CASE("the oldest goes at the limit, which can be seen before") {
  Three t;
  CHECK(t.stones.full_of_young(at(1s)));
  CHECK_FALSE(t.stones.full_of_young(at(2s)));
  t.stones.add(attempt(4), {0s, at(4s), true});
  CHECK(t.order() == std::vector<std::uint64_t>{2, 3, 4});
  t.stones.date(at(9s));
  CHECK(t.stones.find(attempt(2))->since == at(9s));
}

}  // namespace
}  // namespace starling
