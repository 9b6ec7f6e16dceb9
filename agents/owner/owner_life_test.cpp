// SPDX-License-Identifier: Apache-2.0
// What an owner does from its first step on, when it is due, and what it says on.
#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("no executor has been silent before a life began, whenever that is") {
  ScriptedOwner owner({.reconciled = false, .lossy = true, .begins = Instant(24h)});
  owner.pass(500ms);
  const AgentState& state = owner.agent->state();
  CHECK(state.owner.executors[0].watch.standing == Standing::well);
  CHECK_FALSE(state.owner.executors[0].lost);
  CHECK(state.flock.peers[1].watch.standing == Standing::well);
}

TEST_CASE("an executor that does not answer is asked again at the instant that is said") {
  ScriptedOwner owner({.reconciled = false});
  const Instant due = owner.agent->next_deadline();
  CHECK(due == owner.agent->state().owner.executors[0].timer);
  owner.pass(due - owner.now - 1ns);
  CHECK(owner.said<InventoryRequest>() == nullptr);
  owner.pass(1ns);
  CHECK(owner.said<InventoryRequest>() != nullptr);
  CHECK(owner.agent->next_deadline() > owner.now);
}

TEST_CASE("how far a job has come is told its home, if its own executor says so") {
  ScriptedOwner owner;
  owner.start(owner.gpus);
  owner.hear(owner.kExecutor, LaunchResult{owner.attempt, true, {}});
  owner.hear(owner.kExecutor, Progress{owner.attempt, 3s, 0.5});
  REQUIRE(owner.said<Progress>() != nullptr);
  CHECK(owner.said<Progress>()->served == 3s);
  owner.hear(owner.kExecutor, Progress{{JobId{0, 8}, Epoch{1}, 1}, 3s, 0.5});
  CHECK(owner.said<Progress>() == nullptr);
}

TEST_CASE("a repeated Start is a repeated Launch until the executor has answered") {
  ScriptedOwner owner;
  owner.start(owner.gpus);
  owner.hear(owner.kHome, StartAttempt{owner.attempt, owner.kFence});
  CHECK(owner.said<Launch>() != nullptr);
  owner.hear(owner.kExecutor, LaunchResult{owner.attempt, true, {}});
  owner.hear(owner.kHome, StartAttempt{owner.attempt, owner.kFence});
  CHECK(owner.said<Launch>() == nullptr);
  CHECK(owner.said<Started>() != nullptr);
}

TEST_CASE("an end is said until the home has heard it, and asked about where the home is silent") {
  ScriptedOwner owner({.lossy = true});
  owner.start(owner.gpus);
  owner.hear(owner.kExecutor, LaunchResult{owner.attempt, false, "no"});
  REQUIRE(owner.said<Exited>() != nullptr);
  CHECK(owner.said<Exited>()->exit.lost);
  CHECK(owner.share().task_groups[0].state == TaskGroup::State::unknown);
  bool again = false, asked = false;
  for (int i = 0; i < 40; ++i) {
    owner.hear(owner.kExecutor, Ping{1});
    owner.pass(500ms);
    again = again || owner.said<Exited>() != nullptr;
    if (i == 10) CHECK_FALSE(asked);
    asked = asked || owner.said<AttemptQuery>() != nullptr;
  }
  CHECK(again);
  CHECK(asked);
}

TEST_CASE("a journal's words of what it does not know change nothing") {
  ScriptedOwner owner({.journal = {AttemptDraining{{JobId{0, 1}, Epoch{1}, 1}},
                                   AttemptOver{{JobId{0, 1}, Epoch{1}, 1}, 1s},
                                   ShareLaunched{{JobId{0, 1}, Epoch{1}, 1}},
                                   ShareReleased{{JobId{0, 1}, Epoch{1}, 1}}}});
  CHECK(owner.agent->state().home.jobs.empty());
  CHECK(owner.agent->state().owner.shares.empty());
}

TEST_CASE("why an attempt was drained says nothing of the next one's end") {
  JobAccepted accepted;
  accepted.submit.spec.id = JobId{0, 1};
  const AttemptId first{{0, 1}, Epoch{1}, 1}, second{{0, 1}, Epoch{1}, 2};
  const std::vector<Share> gang = {{PartitionId{1}, {GpuId{4}}}};
  ScriptedOwner owner(
      {.reconciled = false,
       .journal = {accepted, AttemptStarting{first, gang}, AttemptDraining{first},
                   AttemptPlan{first, AfterDrain::retry, {}, {}}, AttemptOver{first, 1s},
                   AttemptStarting{second, gang}, AttemptDraining{second}}});
  const Job& job = owner.agent->state().home.jobs.at(JobId{0, 1});
  CHECK(job.stage() == Stage::draining);
  REQUIRE(job.run()->drain);
  CHECK(job.run()->drain->after == AfterDrain::wait);
}

TEST_CASE("what is over is forgotten after a while, in the journal, too") {
  ScriptedOwner owner;
  owner.start(owner.gpus);
  owner.hear(owner.kHome, Release{owner.attempt, owner.kFence});
  owner.hear(owner.kExecutor, Killed{owner.attempt, 3s});
  REQUIRE(owner.wrote<ShareReleased>());
  owner.pass(50min);
  CHECK_FALSE(owner.wrote<TombstonesDropped>());
  owner.pass(20min);
  CHECK(owner.wrote<TombstonesDropped>());
  CHECK(owner.ledger().tombstones().size() == 0);
}

TEST_CASE("an owner that hears none of its executors looks to itself first") {
  ScriptedOwner owner({.executors = 4, .lossy = true});
  for (int i = 0; i < 4; ++i) owner.pass(500ms);
  CHECK(owner.agent->state().flock.health.factor() > 1);
}

TEST_CASE("an executor of an older version is not asked for what jobs print") {
  ScriptedOwner owner;
  const ReadOutput read{owner.attempt, ServerId{0}, {}};
  owner.hear(client_node(0), read);
  CHECK(owner.said<ReadOutput>() != nullptr);
  owner.out.clear();
  owner.agent->step(owner.now, Received{owner.kExecutor, Ping{1}, 2}, owner.out);
  owner.hear(client_node(0), read);
  CHECK(owner.said<ReadOutput>() == nullptr);
  REQUIRE(owner.said<OutputPage>() != nullptr);
  CHECK(owner.said<OutputPage>()->trouble == "its executor is of an older version or not there");
}

TEST_CASE("a page of output goes to clients alone, and comes from executors alone") {
  ScriptedOwner owner;
  OutputPage page{owner.attempt, ServerId{0}, client_node(1)};
  owner.hear(owner.kExecutor, page);
  CHECK(owner.said<OutputPage>() != nullptr);
  owner.hear(owner.kHome, page);
  CHECK(owner.said<OutputPage>() == nullptr);
  page.client = owner.kHome;
  owner.hear(owner.kExecutor, page);
  CHECK(owner.said<OutputPage>() == nullptr);
  CHECK(owner.agent->state().counters.refused_frames == 2);
}

}  // namespace
}  // namespace starling
