// SPDX-License-Identifier: Apache-2.0
// What an owner hears of the shares that it has, and of others that it has not.
#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("how far a job has come is told by an executor that runs a part of it, or by none") {
  ScriptedOwner owner({.executors = 2});
  const Placement first{GpuId{0}, GpuId{1}};
  owner.start(first);
  owner.hear(executor_node(0), LaunchResult{owner.attempt, true, {}});
  owner.hear(executor_node(1), Progress{owner.attempt, 3s, 0.5});
  CHECK(owner.said<Progress>() == nullptr);
  owner.hear(executor_node(0), Progress{owner.attempt, 3s, 0.5});
  CHECK(owner.said<Progress>() != nullptr);
}

TEST_CASE("once its end is acknowledged the rest of a gang is killed until that has been heard") {
  ScriptedOwner owner({.executors = 2});
  owner.start({GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}});
  for (const std::uint32_t e : {0U, 1U})
    owner.hear(executor_node(e), LaunchResult{owner.attempt, true, {}});
  owner.hear(executor_node(0), Exited{owner.attempt, PartitionId{0}, {1, false, ""}, 1s});
  REQUIRE(owner.said<Exited>() != nullptr);
  owner.hear(owner.kHome, ExitedAck{owner.attempt, PartitionId{0}});
  CHECK(owner.said<Kill>() != nullptr);
  for (int lost = 0; lost < 3; ++lost) {
    owner.pass(owner.agent->next_deadline() - owner.now);
    CHECK(owner.said<Kill>() != nullptr);
    CHECK(owner.said<Exited>() == nullptr);
  }
  owner.hear(executor_node(1), Killed{owner.attempt, 1s});
  CHECK(owner.said<Released>() != nullptr);
  CHECK(owner.ledger().free_count() == 4);
}

TEST_CASE("a part that was lost is not forgotten for another one that ends well afterwards") {
  ScriptedOwner owner({.executors = 2});
  owner.start({GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}});
  for (const std::uint32_t e : {0U, 1U})
    owner.hear(executor_node(e), LaunchResult{owner.attempt, true, {}});
  owner.hear(executor_node(0), Exited{owner.attempt, PartitionId{0}, {0, true, ""}, 1s});
  owner.hear(executor_node(1), Exited{owner.attempt, PartitionId{0}, {0, false, ""}, 1s});
  owner.pass(owner.agent->next_deadline() - owner.now);
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK(owner.said<Exited>()->exit.lost);
}

TEST_CASE("GPUs on which a part of a gang has ended well take the others with them no more") {
  ScriptedOwner owner({.executors = 2});
  owner.start({GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}});
  for (const std::uint32_t e : {0U, 1U})
    owner.hear(executor_node(e), LaunchResult{owner.attempt, true, {}});
  owner.hear(executor_node(0), Exited{owner.attempt, PartitionId{0}, {0, false, ""}, 1s});
  owner.hear(executor_node(0), GpuHealth{1, {GpuId{0}, GpuId{1}}});
  CHECK(owner.said<Exited>() == nullptr);
  CHECK(owner.ledger().sick() == std::set<GpuId>{GpuId{0}, GpuId{1}});
  owner.hear(executor_node(1), Exited{owner.attempt, PartitionId{0}, {0, false, ""}, 1s});
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK_FALSE(owner.said<Exited>()->exit.lost);
}

TEST_CASE("GPUs on which a part of a gang runs take it with them") {
  ScriptedOwner owner({.executors = 2});
  owner.start({GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}});
  for (const std::uint32_t e : {0U, 1U})
    owner.hear(executor_node(e), LaunchResult{owner.attempt, true, {}});
  owner.hear(executor_node(0), Exited{owner.attempt, PartitionId{0}, {0, false, ""}, 1s});
  owner.hear(executor_node(1), GpuHealth{1, {GpuId{3}}});
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK(owner.said<Exited>()->exit.lost);
}

TEST_CASE("an answer about an attempt that is not here any more changes nothing") {
  ScriptedOwner owner;
  for (const AttemptLife life : {AttemptLife::live, AttemptLife::dead}) {
    owner.hear(owner.kHome, AttemptAnswer{owner.attempt, life});
    CHECK(owner.out.send.empty());
    CHECK(owner.out.persist.empty());
  }
  CHECK(owner.ledger().free_count() == 4);
}

TEST_CASE("what is kept for the turn of one gang cannot be reserved for another job") {
  ScriptedOwner owner;
  BidRequest claim{{JobId{0, 8}, Epoch{1}, 1}, 4, 1, {}};
  claim.claim_ms = 60'000;
  owner.hear(owner.kHome, claim);
  REQUIRE(owner.agent->state().owner.claim);
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  REQUIRE(owner.said<ReserveRefused>() != nullptr);
  CHECK(owner.said<ReserveRefused>()->why == Refusal::conflict);
  CHECK(owner.ledger().held_count() == 0);
  owner.hear(owner.kHome, Reserve{claim.attempt, owner.kFence, owner.gpus, 5000});
  CHECK(owner.said<Reserved>() != nullptr);
}

TEST_CASE("what was reserved before a turn began may be reserved again in it") {
  ScriptedOwner owner;
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  BidRequest claim{{JobId{0, 8}, Epoch{1}, 1}, 4, 1, {}};
  claim.claim_ms = 60'000;
  owner.hear(owner.kHome, claim);
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  CHECK(owner.said<Reserved>() != nullptr);
}

TEST_CASE("an elastic job's speed teaches where the policy does not change its size") {
  for (const bool elastic : {false, true}) {
    CAPTURE(elastic);
    ScriptedOwner owner;  // with fifo, which is not elastic
    Submit submit{{}, client_node(0)};
    submit.spec.id = JobId{0, 9};
    submit.spec.workers = 2;
    if (elastic) submit.spec.min_workers = 1, submit.spec.max_workers = 4;
    owner.hear(client_node(0), submit);
    REQUIRE(owner.said<Launch>() != nullptr);
    const AttemptId attempt = owner.said<Launch>()->attempt;
    owner.hear(owner.kExecutor, LaunchResult{attempt, true, {}});
    owner.hear(owner.kExecutor, Progress{attempt, 3s, 0.5});
    CHECK(owner.out.teach.size() == 1);
  }
}

TEST_CASE("jobs that an earlier life let share a GPU run on, and nothing new shares it") {
  std::vector<Record> journal;
  {
    ScriptedOwner earlier;
    earlier.start(earlier.gpus);
    journal = earlier.journal;
  }
  ScriptedOwner owner;
  Commit beside = owner.commit();
  beside.attempt.job = beside.spec.id = JobId{0, 8};
  journal.emplace_back(ShareCommitted{beside.attempt, AgentId{1}, beside});
  journal.emplace_back(ShareLaunched{beside.attempt});

  ScriptedOwner next({.journal = journal});
  for (const AttemptId& attempt : {owner.attempt, beside.attempt}) {
    REQUIRE(next.ledger().find(attempt) != nullptr);
    CHECK(next.ledger().find(attempt)->gpus == owner.gpus);
  }
  const AttemptId third{JobId{0, 9}, Epoch{1}, 1};
  next.hear(next.kHome, Reserve{third, next.kFence, {GpuId{1}}, 5000});
  CHECK(next.said<Reserved>() == nullptr);
  next.hear(next.kHome, Reserve{third, next.kFence, {GpuId{2}}, 5000});
  CHECK(next.said<Reserved>() != nullptr);
}

}  // namespace
}  // namespace starling
