// SPDX-License-Identifier: Apache-2.0
#include "policies/metarl/exploration.h"

#include <doctest/doctest.h>

#include <span>

namespace starling {
namespace {

using namespace std::chrono_literals;

const auto kNone = [](std::uint64_t) { return false; };
const auto kAll = [](std::uint64_t) { return true; };
constexpr double kHour = 3600;

TEST_CASE("it earns a part of all GPU time, and saves no more than twelve hours of it") {
  ExplorationBudget budget(0.1);
  CHECK(budget.left() == 0);
  budget.pass(Instant{} + 1h, 10);
  CHECK(budget.left() == doctest::Approx(12 * kHour));
  budget.begin(7, 4, 12 * kHour, 1);
  CHECK(budget.left() == doctest::Approx(0));
  budget.keep_running(kAll);
  budget.pass(Instant{} + 4h, 10);  // three hours on four GPUs, and three hours of ten earned
  CHECK(budget.spent() == doctest::Approx(12 * kHour));
  CHECK(budget.left() == doctest::Approx(0));
  budget.keep_running(kNone);
  budget.pass(Instant{} + 6h, 10);
  CHECK(budget.left() == doctest::Approx(2 * kHour));
  budget.pass(Instant{} + 600h, 10);
  CHECK(budget.left() == doctest::Approx(12 * kHour));
}

TEST_CASE("a job that takes longer than expected is paid for; one that was refused is not") {
  ExplorationBudget budget(0.1);
  budget.pass(Instant{}, 10);
  budget.begin(1, 2, 1 * kHour, 1);
  budget.begin(2, 2, 3 * kHour, 1);
  CHECK(budget.left() == doctest::Approx(8 * kHour));
  budget.keep_running([](std::uint64_t order) { return order == 1; });
  CHECK(budget.left() == doctest::Approx(11 * kHour));
  CHECK(budget.begun() == 1);
  CHECK(budget.explored(1) == 1);
  budget.pass(Instant{} + 10h, 10);  // 20 GPU hours; 10 of 12 earned are more than can be saved
  CHECK(budget.spent() == doctest::Approx(20 * kHour));
  CHECK(budget.left() == doctest::Approx(-8 * kHour));
}

TEST_CASE("pairs are told apart by their types and the GPU's, not by which came first") {
  CHECK(explored_pair("a", "b", 0) == explored_pair("b", "a", 0));
  CHECK(explored_pair("a", "b", 0) != explored_pair("a", "b", 1));
  CHECK(explored_pair("a", "a", 0) != explored_pair("b", "b", 0));
  CHECK(explored_pair("a", "c", 0) != explored_pair("a", "b", 0));
}

TEST_CASE("memory is bounded") {
  ExplorationBudget budget(1);
  budget.pass(Instant{}, 1000);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    budget.begin(i, 1, 1, i);
    if (i % 100 == 99) budget.keep_running(kAll), budget.keep_running(kNone);
  }
  CHECK(!budget.any_runs());
  // More begin at once than are kept account of: those beyond are not on the budget.
  const std::uint64_t begun = budget.begun();
  for (std::uint64_t i = 0; i < ExplorationBudget::kMostRunning + 500; ++i)
    budget.begin(20'000 + i, 1, 1, 20'000);
  CHECK(budget.left() == doctest::Approx(1000 * 12 * kHour - ExplorationBudget::kMostRunning));
  budget.keep_running(kAll);
  CHECK(budget.begun() - begun == ExplorationBudget::kMostRunning);
  budget.begin(20'000, 1, 2, 20'000);  // one that is there already changes
  CHECK(budget.left() == doctest::Approx(1000 * 12 * kHour - ExplorationBudget::kMostRunning - 1));
  MemoryWriter out;
  budget.save(out, Instant{});
  CHECK(out.bytes().size() <=
        8 * (7 + 4 * ExplorationBudget::kMostRunning + 3 * ExplorationBudget::kMostPairs));
  CHECK(budget.explored(9'999) == 1);
  CHECK(budget.explored(1) == 0);
}

TEST_CASE("what is saved goes on elsewhere; what is damaged changes nothing") {
  ExplorationBudget budget(0.1);
  budget.pass(Instant{} + 5h, 10);
  budget.begin(3, 2, kHour, 42);
  budget.keep_running(kAll);
  budget.pass(Instant{} + 6h, 10);
  MemoryWriter out;
  budget.save(out, Instant{} + 1h);
  const auto bytes = out.take();
  ExplorationBudget again(0.1);
  MemoryReader in(bytes);
  again.restore(in, Instant{} + 1h);
  CHECK(again.left() == budget.left());
  CHECK(again.spent() == budget.spent());
  CHECK(again.explored(42) == 1);
  CHECK(again.version() > 0);
  again.pass(Instant{} + 7h, 10), budget.pass(Instant{} + 7h, 10);
  CHECK(again.spent() == budget.spent());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 8) {
    ExplorationBudget untouched(0.1);
    MemoryReader part(std::span<const std::byte>(bytes).first(cut));
    untouched.restore(part, Instant{});
    CHECK(!part.whole());
    CHECK(untouched.explored(42) == 0);
    CHECK(untouched.version() == 0);
  }
}

}  // namespace
}  // namespace starling
