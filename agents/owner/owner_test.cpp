// SPDX-License-Identifier: Apache-2.0
// An owner obeys the job's home, and every order in which its words can arrive is harmless.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "agents/home/turn.h"
#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE(
    "every order of the home's words, with repeats: no start without a commit, no life after a "
    "release") {
  constexpr int kKinds = 6;
  constexpr int kLength = 6;
  int orders = 1;
  for (int i = 0; i < kLength; ++i) orders *= kKinds;
  for (int order = 0; order < orders;
       order += 5) {  // 5 has no factor in common with 6: a fair sample
    ScriptedOwner owner;
    bool committed = false, released = false, killed = false, running = false;
    int rest = order;
    for (int i = 0; i < kLength; ++i, rest /= kKinds) {
      switch (rest % kKinds) {
        case 0:
          owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
          REQUIRE((owner.said<Reserved>() != nullptr) != (owner.said<ReserveRefused>() != nullptr));
          if (released) REQUIRE(owner.said<Reserved>() == nullptr);
          break;
        case 1:
          owner.hear(owner.kHome, owner.commit());
          if (owner.said<Committed>() != nullptr) {
            REQUIRE_FALSE(released);
            REQUIRE(owner.ledger().find(owner.attempt)->phase != HoldPhase::reserved);
            committed = true;
          }
          break;
        case 2:
          owner.hear(owner.kHome, StartAttempt{owner.attempt, owner.kFence});
          if (owner.said<Launch>() != nullptr) {
            REQUIRE(committed);
            REQUIRE_FALSE(released);
          }
          if (!committed) REQUIRE(owner.said<Exited>()->exit.lost);
          break;
        case 3:
          owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
          released = true;
          killed = killed || owner.said<Kill>() != nullptr;
          // Released is said only when nothing can run any more.
          if (owner.said<Released>() != nullptr) REQUIRE(owner.ledger().held_count() == 0);
          break;
        case 4:
          owner.hear(owner.kExecutor, LaunchResult{owner.attempt, true, {}});
          running = running || owner.said<Started>() != nullptr;
          if (running) REQUIRE(committed);
          break;
        default:
          owner.hear(owner.kExecutor, Killed{owner.attempt, 3s});
          if (owner.said<Released>() != nullptr) REQUIRE(killed);
      }
    }
    owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
    owner.hear(owner.kExecutor, Killed{owner.attempt, 3s});
    REQUIRE(owner.ledger().free_count() == 4);
    owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
    REQUIRE(owner.said<Released>() != nullptr);
  }
}

TEST_CASE("a deposed home's view of the owner is fenced, a stranger's word is nothing") {
  ScriptedOwner owner;
  const Fence old{PartitionId{0}, Epoch{3}};
  owner.hear(owner.kHome, Reserve{owner.attempt, old, owner.gpus, 5000});
  CHECK(owner.said<Reserved>() == nullptr);
  CHECK(owner.said<Fenced>()->epoch == Epoch{4});
  owner.hear(client_node(0), Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  CHECK(owner.out.send.empty());
  CHECK(owner.ledger().held_count() == 0);
  CHECK(owner.agent->state().counters.refused_frames == 1);
}

TEST_CASE(
    "a hold lapses by itself, a committed one is asked about and cleared by the home's word") {
  ScriptedOwner owner;
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  CHECK(owner.agent->next_deadline() == owner.now + 5s);
  owner.now += 5s;
  owner.out.clear();
  owner.agent->step(owner.now, Tick{}, owner.out);
  CHECK(owner.ledger().free_count() == 4);
  owner.hear(owner.kHome, owner.commit());
  CHECK(owner.said<CommitRefused>()->why == Refusal::expired);

  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, owner.gpus, 5000});
  owner.hear(owner.kHome, owner.commit());
  owner.now += 5s;
  owner.out.clear();
  owner.agent->step(owner.now, Tick{}, owner.out);
  CHECK(owner.said<AttemptQuery>() != nullptr);
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::not_ready});
  CHECK(owner.ledger().held_count() == 2);
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::dead});
  CHECK(owner.ledger().free_count() == 4);
  CHECK(std::any_of(owner.out.persist.begin(), owner.out.persist.end(),
                    [](const Record& r) { return std::holds_alternative<ShareReleased>(r); }));
}

TEST_CASE("what runs without being in the ledger is adopted, and killed when no home knows it") {
  ScriptedOwner owner;
  owner.hear(owner.kExecutor, Hello{Role::executor, 1, 1, {}});
  CHECK(owner.ledger().free_count() == 0);
  InventoryItem item;
  item.attempt = owner.attempt;
  item.gpus = owner.gpus;
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {item}});
  CHECK(owner.ledger().free_count() == 2);
  CHECK(owner.ledger().held_count() == 2);
  CHECK(owner.said<AttemptQuery>() != nullptr);
  CHECK(owner.said<Kill>() == nullptr);
  owner.now += 5s;  // the question, or its answer, was lost
  owner.out.clear();
  owner.agent->step(owner.now, Tick{}, owner.out);
  CHECK(owner.said<AttemptQuery>() != nullptr);
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::dead});
  CHECK(owner.said<Kill>() != nullptr);
  CHECK(owner.ledger().held_count() == 2);
  owner.hear(owner.kExecutor, Killed{owner.attempt, 1s});
  CHECK(owner.ledger().free_count() == 4);
}

TEST_CASE("an owner that lost its ledger says Released only once its executor has spoken") {
  ScriptedOwner owner({.reconciled = false});
  owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
  CHECK(owner.said<Released>() == nullptr);
  InventoryItem item;
  item.attempt = owner.attempt;
  item.gpus = owner.gpus;
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {item}});
  CHECK(owner.ledger().held_count() == 2);
  owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
  CHECK(owner.said<Kill>() != nullptr);
  CHECK(owner.said<Released>() == nullptr);
  owner.hear(owner.kExecutor, Killed{owner.attempt, 3s});
  REQUIRE(owner.said<Released>() != nullptr);
  CHECK(owner.said<Released>()->served == 3s);
  CHECK(owner.ledger().free_count() == 4);
}

TEST_CASE("an executor that runs what is over is not trusted before that is gone") {
  ScriptedOwner owner;
  owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
  owner.hear(owner.kExecutor, Hello{Role::executor, 1, 1, {}});
  InventoryItem item;
  item.attempt = owner.attempt;
  item.gpus = owner.gpus;
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {item}});
  CHECK(owner.said<Kill>() != nullptr);
  CHECK(owner.ledger().free_count() == 0);
  CHECK(owner.agent->next_deadline() < owner.now + 5s);  // a lost Kill is repeated
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {}});
  CHECK(owner.ledger().free_count() == 4);
}

TEST_CASE("an executor's word of an attempt that its home, which is here, has done with is old") {
  const auto run = [](bool cancelled) {
    CAPTURE(cancelled);
    ScriptedOwner owner;
    const NodeId client = client_node(0);
    Submit submit{{}, client};
    submit.spec.id = JobId{0, 9};
    owner.hear(client, submit);
    REQUIRE(owner.said<Launch>() != nullptr);
    InventoryItem item;
    item.attempt = owner.said<Launch>()->attempt;
    item.gpus = owner.said<Launch>()->here;
    owner.hear(owner.kExecutor, LaunchResult{item.attempt, true, ""});
    if (cancelled) {
      owner.hear(client, Cancel{JobId{0, 9}});
      owner.hear(owner.kExecutor, Killed{item.attempt, 1s});
    } else {
      owner.hear(owner.kExecutor,
                 Exited{item.attempt, PartitionId{0}, {.lost = true, .log_tail = ""}, 1s});
    }
    REQUIRE(owner.ledger().held_count() == 0);
    CHECK(owner.agent->state().home.jobs.contains(JobId{0, 9}) != cancelled);
    owner.hear(owner.kExecutor, Hello{Role::executor, 1, 1, {}});
    owner.hear(owner.kExecutor, Inventory{owner.kFence, {item}});  // overtaken by its own end
    CHECK(owner.said<Kill>() != nullptr);
    CHECK(owner.said<AttemptQuery>() == nullptr);
    CHECK(owner.ledger().held_count() == 0);
  };
  run(true);
  run(false);
}

TEST_CASE("what was adopted and is lost cannot be launched again: its home is told") {
  ScriptedOwner owner;
  owner.hear(owner.kExecutor, Hello{Role::executor, 1, 1, {}});
  InventoryItem item;
  item.attempt = owner.attempt;
  item.gpus = owner.gpus;
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {item}});
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live});
  owner.now += 1s;
  owner.hear(owner.kExecutor, Hello{Role::executor, 1, 1, {}});
  owner.hear(owner.kExecutor, Inventory{owner.kFence, {}});
  owner.hear(owner.kHome, AttemptAnswer{owner.attempt, AttemptLife::live});
  CHECK(owner.said<Launch>() == nullptr);
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK(owner.said<Exited>()->exit.lost);
}

TEST_CASE("an offer is made of free GPUs of the right type and holds nothing") {
  ScriptedOwner owner;
  owner.hear(owner.kHome, BidRequest{owner.attempt, 3, 1, {}});
  REQUIRE(owner.said<Offer>() != nullptr);
  CHECK(owner.said<Offer>()->share.gpus.size() <= 3);
  CHECK(owner.ledger().free_count() == 4);
  owner.hear(owner.kHome, BidRequest{owner.attempt, 3, 1, {"H100"}});
  CHECK(owner.said<NoOffer>() != nullptr);
}

TEST_CASE("of two gangs' claims the older one counts, and a gang without one gets no offer") {
  ScriptedOwner owner;
  BidRequest first{owner.attempt, 4, 1, {}}, second = first;
  second.attempt.job = JobId{0, 8};
  first.claim_ms = second.claim_ms = 60'000;
  first.waited = 1h;
  second.waited = 30min;
  owner.hear(owner.kHome, first);
  owner.hear(owner.kHome, second);
  REQUIRE(owner.said<ReserveRefused>() != nullptr);
  CHECK(owner.said<ReserveRefused>()->why == Refusal::conflict);
  owner.hear(owner.kHome, BidRequest{second.attempt, 4, 1, {}});
  CHECK(owner.said<NoOffer>() != nullptr);
  owner.hear(owner.kHome, BidRequest{first.attempt, 4, 1, {}});
  CHECK(owner.said<Offer>() != nullptr);
  second.waited = 2h;
  owner.hear(owner.kHome, second);
  CHECK(owner.said<ReserveRefused>() == nullptr);
  CHECK(owner.agent->state().owner.claim->attempt == second.attempt);
}

TEST_CASE("of two claims the more urgent one counts, whichever gang has waited longer") {
  ScriptedOwner owner;
  BidRequest old{owner.attempt, 4, 1, {}}, urgent = old;
  urgent.attempt.job = JobId{0, 8};
  old.claim_ms = urgent.claim_ms = 60'000;
  old.waited = 2h;
  urgent.waited = 30min;
  urgent.priority = 5;
  owner.hear(owner.kHome, old);
  REQUIRE(owner.agent->state().owner.claim->attempt == old.attempt);
  owner.hear(owner.kHome, urgent);
  CHECK(owner.agent->state().owner.claim->attempt == urgent.attempt);
  owner.hear(owner.kHome, old);
  REQUIRE(owner.said<ReserveRefused>() != nullptr);
  CHECK(owner.said<ReserveRefused>()->attempt == old.attempt);
  CHECK(owner.agent->state().owner.claim->attempt == urgent.attempt);
}

TEST_CASE("a claim gives way to a more urgent job that waits here, for as long as its patience") {
  ScriptedOwner owner;
  const Placement all{GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, all, 7'200'000});
  Submit submit{{}, client_node(0)};
  submit.spec.id = JobId{0, 9};
  submit.spec.priority = 3;
  owner.hear(client_node(0), submit);
  BidRequest claim{{JobId{0, 8}, Epoch{1}, 1}, 4, 1, {}};
  claim.claim_ms = 60'000;
  const auto answer = [&](std::int32_t priority) {
    claim.priority = priority;
    owner.out.clear();
    owner.hear(owner.kHome, claim);
    return owner.said<ReserveRefused>();
  };
  REQUIRE(answer(2) != nullptr);
  CHECK(answer(2)->why == Refusal::conflict);
  CHECK(answer(3) == nullptr);
  CHECK(answer(2) != nullptr);
  owner.now += kPatience;
  CHECK(answer(2) == nullptr);
}

TEST_CASE("a job that waits takes the GPUs of a hold that has lapsed") {
  ScriptedOwner owner;
  const Placement all{GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  owner.hear(owner.kHome, Reserve{owner.attempt, owner.kFence, all, 1000});
  REQUIRE(owner.ledger().held_count() == 4);
  Submit submit{{}, client_node(0)};
  submit.spec.id = JobId{0, 9};
  owner.hear(client_node(0), submit);
  CHECK(owner.said<Launch>() == nullptr);
  owner.now += 2s;
  owner.out.clear();
  for (int i = 0; i < 2; ++i) owner.agent->step(owner.now, Tick{}, owner.out);
  CHECK(owner.said<Launch>() != nullptr);
}

}  // namespace
}  // namespace starling
