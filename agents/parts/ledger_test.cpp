// SPDX-License-Identifier: Apache-2.0
// The ledger is where "no GPU is ever given twice" is decided. Each test states one way in which
// that promise could break: a race, an expiry, a repeat, a late message, an executor that has said
// nothing.
#include "agents/parts/ledger.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology two_servers() {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 4;
  return generate_flat(options).value();
}
AttemptId attempt(std::uint64_t n) { return {JobId{0, n}, Epoch{1}, n}; }
Instant at(Duration d) { return Instant{} + d; }
Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement out;
  for (const std::uint32_t id : ids) out.push_back(GpuId{id});
  return out;
}
constexpr AgentId kHome{3};
constexpr IndexRange kAll{0, 2};

struct Fixture {
  explicit Fixture(Limits limits = {}) : ledger(topology, kAll, limits) { ledger.trust(kAll); }
  Topology topology = two_servers();
  Ledger ledger;
};

TEST_CASE("two attempts race for the same GPUs: exactly one gets them") {
  Fixture f;
  CHECK_FALSE(f.ledger.reserve(attempt(1), kHome, gpus({0, 1}), at(5s)));
  CHECK(f.ledger.reserve(attempt(2), kHome, gpus({1, 2}), at(5s)) == Refusal::conflict);
  CHECK(f.ledger.allocate(attempt(2), kHome, gpus({1})) == Refusal::conflict);
  CHECK(f.ledger.free_count() == 6);
  CHECK(f.ledger.find(attempt(2)) == nullptr);
}

TEST_CASE("an attempt that has its GPUs cannot have others") {
  Fixture f;
  CHECK_FALSE(f.ledger.allocate(attempt(1), kHome, gpus({0, 1})));
  CHECK(f.ledger.allocate(attempt(1), kHome, gpus({2, 3})) == Refusal::conflict);
  CHECK(f.ledger.free_count() == 6);
}

TEST_CASE("where two jobs may share a GPU a third gets none of it") {
  Limits limits;
  limits.jobs_per_gpu = 2;
  Fixture f(limits);
  CHECK_FALSE(f.ledger.reserve(attempt(1), kHome, gpus({0, 1}), at(5s)));
  CHECK_FALSE(f.ledger.allocate(attempt(2), kHome, gpus({1, 2})));
  CHECK(f.ledger.allocate(attempt(3), kHome, gpus({1})) == Refusal::conflict);
  CHECK(f.ledger.reserve(attempt(3), kHome, gpus({1, 3}), at(5s)) == Refusal::conflict);
  CHECK_FALSE(f.ledger.adopt(attempt(3), kHome, gpus({1, 3}), HoldPhase::launched));
  CHECK(f.ledger.held_count() == 3);
  CHECK(f.ledger.free_count() == 5);
  f.ledger.release(attempt(2), 0s);
  CHECK(f.ledger.held_count() == 2);
  CHECK(f.ledger.free_count() == 6);
  CHECK_FALSE(f.ledger.allocate(attempt(4), kHome, gpus({1})));
  // A gang that reserves was offered free GPUs, and is not to find a job there.
  CHECK(f.ledger.reserve(attempt(6), kHome, gpus({0, 3}), at(5s)) == Refusal::conflict);
  CHECK_FALSE(f.ledger.reserve(attempt(6), kHome, gpus({2, 3}), at(5s)));
  f.ledger.forget(attempt(6));
  f.ledger.distrust(kAll);
  CHECK(f.ledger.allocate(attempt(5), kHome, gpus({0})) == Refusal::not_ready);
  CHECK(f.ledger.held_count() + f.ledger.quarantined_count() == 8);
}

TEST_CASE("a gang holds GPUs that have a job where that is the one which it was offered") {
  Limits limits;
  limits.jobs_per_gpu = 2;
  Fixture f(limits);
  REQUIRE_FALSE(f.ledger.allocate(attempt(1), kHome, gpus({0, 1})));
  REQUIRE_FALSE(f.ledger.allocate(attempt(2), kHome, gpus({2})));
  const AttemptId one = attempt(1), both[] = {attempt(1), attempt(2)};
  const auto reserve = [&](std::uint64_t n, std::initializer_list<std::uint32_t> ids,
                           std::span<const AttemptId> beside) {
    return f.ledger.reserve(attempt(n), kHome, gpus(ids), at(5s), {}, beside);
  };

  SUBCASE("beside them, and beside free ones") {
    CHECK_FALSE(reserve(3, {0, 1, 2, 4}, both));
    CHECK(f.ledger.held_count() == 4);
    SUBCASE("a hold is a tenant: no other job comes to those GPUs, however it comes") {
      const AttemptId all[] = {attempt(1), attempt(2), attempt(3)};
      CHECK(reserve(4, {1, 5}, all) == Refusal::conflict);
      CHECK(f.ledger.allocate(attempt(4), kHome, gpus({0})) == Refusal::conflict);
      CHECK_FALSE(f.ledger.adopt(attempt(4), kHome, gpus({2}), HoldPhase::launched));
    }
    SUBCASE("once it has lapsed they have one job again") {
      f.ledger.forget(attempt(3));
      CHECK(f.ledger.held_count() == 3);
      CHECK_FALSE(reserve(4, {0, 2}, both));
    }
    SUBCASE("the job that it joined may end before it is committed") {
      f.ledger.release(attempt(1), 0s);
      CHECK_FALSE(f.ledger.commit(at(1s), attempt(3)));
      CHECK(f.ledger.held_count() == 4);
    }
  }
  SUBCASE("not beside any other job") {
    CHECK(reserve(3, {0, 2}, {&one, 1}) == Refusal::conflict);
    f.ledger.release(attempt(1), 0s);
    REQUIRE_FALSE(f.ledger.allocate(attempt(5), kHome, gpus({0})));
    CHECK(reserve(3, {0, 4}, {&one, 1}) == Refusal::conflict);
  }
  SUBCASE("nor beside one that is held, or that is being stopped") {
    REQUIRE_FALSE(reserve(3, {4}, {}));
    const AttemptId held = attempt(3);
    CHECK(reserve(4, {4}, {&held, 1}) == Refusal::conflict);
    f.ledger.releasing(attempt(1));
    CHECK(reserve(4, {0}, {&one, 1}) == Refusal::conflict);
  }
  SUBCASE("nor where a GPU takes one job") {
    Fixture strict;
    REQUIRE_FALSE(strict.ledger.allocate(attempt(1), kHome, gpus({0})));
    CHECK(strict.ledger.reserve(attempt(2), kHome, gpus({0}), at(5s), {}, {&one, 1}) ==
          Refusal::conflict);
  }
}

TEST_CASE("a lapsed hold is not committed, and one that was committed does not lapse") {
  Fixture f;
  CHECK_FALSE(f.ledger.reserve(attempt(1), kHome, gpus({0}), at(5s)));
  CHECK_FALSE(f.ledger.reserve(attempt(1), kHome, gpus({0}), at(8s)));
  CHECK_FALSE(f.ledger.commit(at(7s), attempt(1)));
  CHECK_FALSE(f.ledger.commit(at(100s), attempt(1)));
  CHECK_FALSE(f.ledger.reserve(attempt(2), kHome, gpus({1}), at(5s)));
  CHECK(f.ledger.commit(at(5s), attempt(2)) == Refusal::expired);
  CHECK(f.ledger.commit(at(1s), attempt(9)) == Refusal::expired);
}

TEST_CASE("what was released stays released") {
  Fixture f;
  f.ledger.release(attempt(1), 3s);
  CHECK(f.ledger.reserve(attempt(1), kHome, gpus({0}), at(5s)) == Refusal::expired);
  CHECK(f.ledger.commit(at(0s), attempt(1)) == Refusal::expired);
  f.ledger.release(attempt(1), 9s);
  CHECK(*f.ledger.released(attempt(1)) == 3s);
  CHECK(f.ledger.released(attempt(2)) == nullptr);
}

TEST_CASE("a hold that is being released refuses everything and frees its GPUs only at the end") {
  Fixture f;
  CHECK_FALSE(f.ledger.allocate(attempt(1), kHome, gpus({0, 1})));
  f.ledger.releasing(attempt(1));
  CHECK(f.ledger.reserve(attempt(1), kHome, gpus({0, 1}), at(5s)) == Refusal::expired);
  CHECK(f.ledger.commit(at(0s), attempt(1)) == Refusal::expired);
  CHECK(f.ledger.free_count() == 6);
  f.ledger.release(attempt(1), 0s);
  CHECK(f.ledger.free_count() == 8);
}

TEST_CASE("GPUs of an executor that has not spoken are given to no job") {
  Topology topology = two_servers();
  Ledger ledger(topology, kAll, {});
  CHECK(ledger.quarantined_count() == 8);
  ledger.trust({0, 1});
  CHECK(ledger.free_count() == 4);
  CHECK(ledger.reserve(attempt(1), kHome, gpus({3, 4}), at(5s)) == Refusal::not_ready);
  CHECK(ledger.adopt(attempt(2), kHome, gpus({4, 5}), HoldPhase::launched));
  CHECK(ledger.held_count() == 2);
  ledger.trust({1, 2});
  CHECK(ledger.free_count() == 6);
  ledger.distrust({1, 2});
  ledger.forget(attempt(2));
  CHECK(ledger.free_count() == 4);
  CHECK(ledger.quarantined_count() == 4);
}

TEST_CASE("nonsense is refused") {
  Fixture f;
  CHECK(f.ledger.reserve(attempt(1), kHome, {}, at(5s)) == Refusal::invalid);
  CHECK(f.ledger.reserve(attempt(1), kHome, gpus({1, 0}), at(5s)) == Refusal::invalid);
  CHECK(f.ledger.reserve(attempt(1), kHome, gpus({1, 1}), at(5s)) == Refusal::invalid);
  CHECK(f.ledger.reserve(attempt(1), kHome, gpus({7, 8}), at(5s)) == Refusal::invalid);
  CHECK_FALSE(f.ledger.reserve(attempt(1), kHome, gpus({0}), at(5s)));
  CHECK(f.ledger.reserve(attempt(1), kHome, gpus({1}), at(5s)) == Refusal::conflict);
  CHECK(f.ledger.reserve(attempt(1), AgentId{4}, gpus({0}), at(5s)) == Refusal::conflict);
}

TEST_CASE("holds and tombstones are bounded") {
  Limits limits;
  limits.holds = 2;
  limits.tombstones = 3;
  Fixture f(limits);
  CHECK_FALSE(f.ledger.reserve(attempt(1), kHome, gpus({0}), at(5s)));
  CHECK_FALSE(f.ledger.reserve(attempt(2), kHome, gpus({1}), at(5s)));
  CHECK(f.ledger.reserve(attempt(3), kHome, gpus({2}), at(5s)) == Refusal::busy);
  for (std::uint64_t n = 10; n < 20; ++n) f.ledger.release(attempt(n), 0s);
  CHECK(f.ledger.tombstones().size() == 3);
  CHECK(f.ledger.released(attempt(10)) == nullptr);
  CHECK(f.ledger.released(attempt(19)) != nullptr);
}

TEST_CASE("under random calls no GPU is held twice and the counts add up") {
  Fixture f;
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    const AttemptId a = attempt(1 + rng.below(12));
    const std::uint32_t first = rng.below(8);
    Placement some;
    for (std::uint32_t g = first; g < std::min(8U, first + 1 + rng.below(3)); ++g) {
      some.push_back(GpuId{g});
    }
    const IndexRange server{first / 4, first / 4 + 1};
    switch (rng.below(8)) {
      case 0:
        (void)f.ledger.reserve(a, kHome, some, at(5s));
        break;
      case 1:
        (void)f.ledger.commit(at(1s), a);
        break;
      case 2:
        (void)f.ledger.allocate(a, kHome, some);
        break;
      case 3:
        (void)f.ledger.adopt(a, kHome, some, HoldPhase::committed);
        break;
      case 4:
      case 5:
        f.ledger.forget(a);
        break;
      case 6:
        f.ledger.distrust(server);
        break;
      default:
        f.ledger.trust(server);
    }
    std::vector<bool> held(8, false);
    std::uint32_t count = 0;
    for (const auto& [id, hold] : f.ledger.holds()) {
      for (const GpuId gpu : hold.gpus) {
        REQUIRE_FALSE(held[gpu.value]);
        REQUIRE_FALSE(f.ledger.gpus().is_free(gpu));
        held[gpu.value] = true;
        ++count;
      }
    }
    REQUIRE(f.ledger.held_count() == count);
    REQUIRE(f.ledger.free_count() + f.ledger.quarantined_count() + count == 8);
  }
}

}  // namespace
}  // namespace starling
