// SPDX-License-Identifier: Apache-2.0
// What an executor says that it runs, against what its owner has in the ledger.
#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

using State = TaskGroup::State;

constexpr NodeId kHome = ScriptedOwner::kHome;
constexpr NodeId kExecutor = ScriptedOwner::kExecutor;
constexpr Fence kFence = ScriptedOwner::kFence;
const Hello kHello{Role::executor, 1, kNewestProtocol, {}};

State state_of(const ScriptedOwner& owner) { return owner.share().task_groups.front().state; }

TEST_CASE("what an executor lost after its owner had restarted is asked about") {
  ScriptedOwner before;
  before.start(before.gpus);
  ScriptedOwner owner({.reconciled = false, .journal = before.journal});
  owner.hear(kExecutor, Inventory{kFence, {owner.item(owner.gpus)}});
  CHECK(state_of(owner) == State::running);
  owner.pass(1s);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {}});
  CHECK(state_of(owner) == State::unknown);
  CHECK(owner.said<AttemptQuery>() != nullptr);
}

TEST_CASE("what began when its executor was asked already may be missing in the answer") {
  ScriptedOwner owner;
  owner.hear(kHome, Reserve{owner.attempt, kFence, owner.gpus, 5000});
  owner.hear(kHome, owner.commit());
  owner.hear(kExecutor, kHello);
  owner.hear(kHome, StartAttempt{owner.attempt, kFence});
  owner.hear(kExecutor, LaunchResult{owner.attempt, true, {}});
  REQUIRE(state_of(owner) == State::running);
  owner.hear(kExecutor, Inventory{kFence, {}});
  CHECK(state_of(owner) == State::running);
  CHECK(owner.said<AttemptQuery>() == nullptr);
}

TEST_CASE("a Launch that its executor has not answered is repeated, and its home is not asked") {
  ScriptedOwner owner;
  Commit whole = owner.commit();
  whole.gang.pop_back();
  whole.spec.workers = static_cast<std::uint32_t>(owner.gpus.size());
  owner.hear(kHome, Reserve{owner.attempt, kFence, owner.gpus, 5000});
  owner.hear(kHome, whole);
  owner.hear(kHome, StartAttempt{owner.attempt, kFence});
  owner.pass(1ms);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {}});
  CHECK(state_of(owner) == State::launching);
  CHECK(owner.said<AttemptQuery>() == nullptr);
  owner.pass(5s);
  CHECK(owner.said<Launch>() != nullptr);
}

// Its journal was lost after it had started its part, and before its owner heard so.
TEST_CASE("a part of a gang is not launched twice where its executor has lost all it knew") {
  ScriptedOwner owner({.executors = 2});
  owner.start({GpuId{0}, GpuId{2}});
  owner.hear(executor_node(1), LaunchResult{owner.attempt, true, {}});
  owner.pass(1ms);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {}});
  CHECK(state_of(owner) == State::unknown);
  REQUIRE(owner.said<AttemptQuery>() != nullptr);
  owner.hear(kHome,
             AttemptAnswer{owner.attempt, AttemptLife::live, owner.said<AttemptQuery>()->token});
  CHECK(owner.said<Launch>() == nullptr);
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK(owner.said<Exited>()->exit.lost);
}

TEST_CASE("an executor that loses what it runs for the second time is noticed like the first") {
  ScriptedOwner owner;
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {}});
  owner.pass(1s);
  owner.start(owner.gpus);
  owner.hear(kExecutor, LaunchResult{owner.attempt, true, {}});
  owner.pass(1s);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {}});
  CHECK(state_of(owner) == State::unknown);
  CHECK(owner.said<AttemptQuery>() != nullptr);
}

TEST_CASE("what runs where it has no part is killed first, what has ended there is acknowledged") {
  for (const bool exited : {true, false}) {
    CAPTURE(exited);
    ScriptedOwner owner({.executors = 2});
    owner.start({GpuId{0}});
    owner.hear(executor_node(1), kHello);
    InventoryItem item = owner.item({GpuId{2}});
    item.exited = exited;
    owner.hear(executor_node(1), Inventory{kFence, {item}});
    CHECK((owner.said<ExitedAck>() != nullptr) == exited);
    CHECK((owner.said<Kill>() != nullptr) == !exited);
    CHECK(owner.agent->state().owner.executors[1].trusted == exited);
  }
}

TEST_CASE("an end of what is not known here is acknowledged") {
  ScriptedOwner owner;
  owner.hear(kExecutor, kHello);
  InventoryItem item = owner.item(owner.gpus);
  item.exited = true;
  owner.hear(kExecutor, Inventory{kFence, {item}});
  CHECK(owner.said<ExitedAck>() != nullptr);
  CHECK(owner.said<Kill>() == nullptr);
  CHECK(owner.ledger().free_count() == 4);
}

TEST_CASE("what is being killed is told so again, and other GPUs there are free meanwhile") {
  ScriptedOwner owner;
  owner.start(owner.gpus);
  owner.hear(kHome, Release{owner.attempt, kFence});
  REQUIRE(state_of(owner) == State::killing);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {owner.item(owner.gpus)}});
  CHECK(owner.said<Kill>() != nullptr);
  CHECK(owner.ledger().free_count() == 2);
}

TEST_CASE("an executor that lists what was being launched has started it: home and executor hear") {
  ScriptedOwner owner({.lossy = true});
  owner.start(owner.gpus);
  REQUIRE(owner.said<Launch>() != nullptr);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {owner.item(owner.gpus)}});
  CHECK(state_of(owner) == State::running);
  CHECK(owner.said<Started>() != nullptr);
  REQUIRE(owner.said<AttemptAnswer>() != nullptr);
  CHECK(owner.said<AttemptAnswer>()->life == AttemptLife::live);
}

TEST_CASE("what is launched anew is repeated as soon as at first") {
  ScriptedOwner owner;
  Commit alone = owner.commit();
  alone.gang.pop_back();
  alone.spec.workers = 2;
  owner.hear(kHome, Reserve{owner.attempt, kFence, owner.gpus, 5000});
  owner.hear(kHome, alone);
  owner.hear(kHome, StartAttempt{owner.attempt, kFence});
  for (int i = 0; i < 5; ++i) owner.pass(1s);
  REQUIRE(owner.share().backoff > 2 * Timers{}.retry_min);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {owner.item(owner.gpus)}});
  owner.pass(1s);
  owner.hear(kExecutor, kHello);
  owner.hear(kExecutor, Inventory{kFence, {}});
  REQUIRE(owner.said<AttemptQuery>() != nullptr);
  const std::uint64_t token = owner.said<AttemptQuery>()->token;
  owner.hear(kHome, AttemptAnswer{owner.attempt, AttemptLife::live, token});
  CHECK(owner.said<Launch>() != nullptr);
  CHECK(owner.share().backoff == Timers{}.retry_min);
}

TEST_CASE("what an executor says has ended has ended, also where only its inventory says so") {
  ScriptedOwner owner;
  owner.start(owner.gpus);
  owner.hear(kExecutor, kHello);
  InventoryItem item = owner.item(owner.gpus);
  item.exited = true;
  item.served = 7s;
  owner.hear(kExecutor, Inventory{kFence, {item}});
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK_FALSE(owner.said<Exited>()->exit.lost);
  CHECK(owner.said<Exited>()->served == 7s);
}

/// Its lives count from where the copy was made, and so do the versions of what it says.
TEST_CASE("a machine that is back with an older copy of its state is believed about its GPUs") {
  constexpr std::uint64_t kSeventhLife = std::uint64_t{7} << 32U,
                          kSixthLife = std::uint64_t{6} << 32U;
  ScriptedOwner owner;
  const Ledger& ledger = owner.agent->state().owner.ledger;
  owner.hear(kExecutor, GpuHealth{kSeventhLife + 1, {GpuId{1}}});
  REQUIRE(ledger.sick_count() == 1);
  owner.hear(kExecutor, Hello{Role::executor, 1, 1, {}});
  owner.hear(kExecutor, Inventory{kFence, {}, kSixthLife + 2, {}});
  CHECK(ledger.sick_count() == 0);
  owner.hear(kExecutor, GpuHealth{kSixthLife + 1, {GpuId{1}}});  // it was overtaken
  CHECK(ledger.sick_count() == 0);
}

TEST_CASE("an executor that is back with protocol 1 has no bad GPUs that it could tell of") {
  ScriptedOwner owner;
  owner.hear(kExecutor, GpuHealth{(std::uint64_t{1} << 32U) + 1, {GpuId{1}}});
  REQUIRE(owner.agent->state().owner.ledger.sick_count() == 1);
  owner.hear(kExecutor, Hello{Role::executor, 1, 1, {}});
  owner.hear(kExecutor, Inventory{kFence, {}});
  CHECK(owner.agent->state().owner.ledger.sick_count() == 0);
}

}  // namespace
}  // namespace starling
