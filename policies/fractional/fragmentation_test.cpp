// SPDX-License-Identifier: Apache-2.0
// The measure of fragmentation, counted by hand: each way in which a pod cannot use what is left.
#include "policies/fractional/fragmentation.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "policies/fractional/test_cluster.h"

using namespace starling;

namespace {

constexpr std::int64_t kMuch = std::numeric_limits<std::int32_t>::max();

std::int64_t fragments(const std::vector<PodDemand>& target, const std::vector<std::uint16_t>& free,
                       std::int64_t cpu_milli = kMuch, std::int64_t memory_mib = kMuch,
                       std::uint32_t model = 0) {
  return Fragmentation(target).of({cpu_milli, memory_mib, model, free});
}

}  // namespace

TEST_CASE("a share cannot use GPUs with less left than it takes") {
  CHECK(fragments({sharing(500)}, {300, 1000, 600}) == 300);
  CHECK(fragments({sharing(300)}, {300, 1000, 600}) == 0);
  CHECK(fragments({sharing(301)}, {300, 1000, 600}) == 300);
  CHECK(fragments({sharing(601)}, {300, 1000, 600}) == 900);
}

TEST_CASE("whole GPUs cannot use shared ones") {
  CHECK(fragments({whole(1)}, {300, 1000, 600}) == 900);
  CHECK(fragments({whole(2)}, {1000, 1000, 999, 1000}) == 999);
  CHECK(fragments({whole(2)}, {1000, 1000}) == 0);
}

TEST_CASE("a pod that fits nowhere on the node leaves all of it unused") {
  SUBCASE("too few GPUs") {
    CHECK(fragments({whole(2)}, {300, 1000, 600}) == 1900);
    CHECK(fragments({sharing(700)}, {600, 600}) == 1200);
  }
  SUBCASE("too few CPUs") {
    CHECK(fragments({sharing(500, 4000)}, {300, 1000, 600}, 3999) == 1900);
    CHECK(fragments({sharing(500, 4000)}, {300, 1000, 600}, 4000) == 300);
  }
  SUBCASE("too little memory") {
    CHECK(fragments({sharing(500)}, {300, 1000, 600}, kMuch, 1023) == 1900);
    CHECK(fragments({sharing(500)}, {300, 1000, 600}, kMuch, 1024) == 300);
  }
  SUBCASE("another model") {
    PodDemand picky = sharing(500);
    picky.models = 2;
    CHECK(fragments({picky}, {300, 1000, 600}, kMuch, kMuch, 0) == 1900);
    CHECK(fragments({picky}, {300, 1000, 600}, kMuch, kMuch, 1) == 300);
    picky.models = 0;
    CHECK(fragments({picky}, {300, 1000, 600}, kMuch, kMuch, 1) == 1900);
  }
  SUBCASE("both CPUs and GPUs") { CHECK(fragments({whole(4, 9000)}, {1000, 20}, 100) == 1020); }
}

TEST_CASE("a pod without a GPU uses none, whether it fits or not") {
  CHECK(fragments({no_gpu()}, {300, 1000}) == 1300);
  CHECK(fragments({no_gpu()}, {300, 1000}, 0) == 1300);
}

TEST_CASE("nothing left is nothing fragmented") {
  CHECK(fragments({whole(1), no_gpu()}, {0, 0}) == 0);
  CHECK(fragments({whole(1), no_gpu()}, {}) == 0);
}

TEST_CASE("demands count by popularity") {
  const std::vector<PodDemand> target = {sharing(500, 1000, 2), whole(1, 1000, 1), no_gpu(1000, 1)};
  const Fragmentation measure(target);
  CHECK(measure.popularity() == 4);
  const std::vector<std::uint16_t> free = {300, 1000, 600};
  // (2 x 300 + 900 + 1900) / 4 thousandths of a GPU
  const std::int64_t counted = measure.of({kMuch, kMuch, 0, free});
  CHECK(counted == 3400);
  CHECK(measure.gpus(counted) == doctest::Approx(0.85));
}

TEST_CASE("more CPUs or memory never fragment more") {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    const Demands demands = random_demands(rng);
    const std::vector<PodDemand>& target = demands.all;
    const Fragmentation measure(target);
    std::vector<std::uint16_t> free(rng.below(9));
    for (auto& gpu : free) gpu = static_cast<std::uint16_t>(rng.below(1001));
    const FreeNode less{rng.below(12'000), rng.below(20'000), rng.below(2), free};
    const FreeNode more{less.cpu_milli + rng.below(2000), less.memory_mib + rng.below(2000),
                        less.model, free};
    CHECK(measure.of(more) <= measure.of(less));
    CHECK(measure.published(less) ==
          doctest::Approx(measure.gpus(measure.of(less)) * kWholeGpu).epsilon(1e-9));
    const std::int64_t total = std::accumulate(free.begin(), free.end(), std::int64_t{0});
    CHECK(measure.of(less) <= total * measure.popularity());
    CHECK(measure.of(more) >= 0);
  }
}
