// SPDX-License-Identifier: Apache-2.0
// What the checker remembers of journals, lives and ends, and what it says.
#include <doctest/doctest.h>

#include "agents/owner/scripted_owner_test.h"
#include "sim/check/healthy_world_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// An attempt of another job on one GPU of the first partition, up to its commit.
std::vector<Share> start_other(HealthyWorld& h) {
  const std::vector<Share> gang = {{PartitionId{0}, gpus({0})}};
  h.accept(kA, kOther.job);
  h.write(kA, AttemptStarting{kOther, gang});
  h.commit(kA, kOther, gang);
  return gang;
}

TEST_CASE("a violation names the node, its part and the time, and stays the first") {
  HealthyWorld h;
  h.checker.took_refused(kNow, client_node(3), "one");
  CHECK(*h.checker.violation() == "S10 is violated at 3.000000000 s on client 3: one");
  h.checker.took_refused(kNow, kA, "two");
  CHECK(*h.checker.violation() == "S10 is violated at 3.000000000 s on client 3: one");
  HealthyWorld of_executor, of_agent, of_machine;
  of_executor.checker.took_refused(kNow, executor_node(0), "it");
  CHECK(of_executor.checker.violation()->find("on executor 0: it") != std::string::npos);
  of_agent.checker.took_refused(kNow, kB, "it");
  CHECK(of_agent.checker.violation()->find("on agent 1: it") != std::string::npos);
  of_machine.checker.overlap(kNow, "it");
  CHECK(of_machine.checker.violation()->find("on hardware: it") != std::string::npos);
}

TEST_CASE("S2: what a home says is over is over in its own partition, too") {
  HealthyWorld h;
  h.world.ledgers.clear();  // all owners are down: by the journal alone
  (void)start_other(h);
  h.world.processes.push_back({kOther, gpus({0})});
  h.checker.look(kNow, h.world);
  CHECK_FALSE(h.checker.violation());
  h.write(kA, AttemptDraining{kOther});
  h.write(kA, AttemptOver{kOther, {}});
  CHECK(h.caught("S2"));
}

TEST_CASE("S3: an attempt that is drained is open still") {
  HealthyWorld h;
  h.write(kA, AttemptDraining{kOne});
  h.write(kA, AttemptStarting{kTwo, {{PartitionId{0}, gpus({2})}}});
  CHECK(h.caught("S3"));
}

TEST_CASE("S3: a job that waits may start") {
  HealthyWorld h;
  h.write(kA, AttemptDraining{kOne});
  h.write(kA, AttemptOver{kOne, {}});
  h.write(kA, AttemptStarting{kTwo, {{PartitionId{0}, gpus({2})}}});
  CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
}

TEST_CASE("S7: a life is later than the last one, not than the first alone") {
  HealthyWorld h;
  h.write(kA, LifeBegan{Incarnation{3}, Epoch{2}});
  CHECK_FALSE(h.checker.violation());
  SUBCASE("by number") { h.write(kA, LifeBegan{Incarnation{2}, Epoch{2}}); }
  SUBCASE("by epoch") { h.write(kA, LifeBegan{Incarnation{4}, Epoch{1}}); }
  CHECK(h.caught("S7"));
}

TEST_CASE("a disk that is lost takes its epochs and records with it, and no numbers of lives") {
  HealthyWorld h;
  h.write(kA, LifeBegan{Incarnation{2}, Epoch{4}});
  h.write(kA, EpochSeen{PartitionId{1}, Epoch{4}});
  const Record left = LifeBegan{Incarnation{1}, Epoch{1}};
  h.checker.new_disk(kA, {&left, 1});
  SUBCASE("epochs") {
    h.write(kA, LifeBegan{Incarnation{3}, Epoch{1}});
    h.write(kA, EpochSeen{PartitionId{1}, Epoch{2}});
    CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
  }
  SUBCASE("records") {
    h.write(kA, ShareLaunched{kOne});
    CHECK(h.caught("S15"));
  }
  SUBCASE("lives") {
    h.write(kA, LifeBegan{Incarnation{2}, Epoch{1}});
    CHECK(h.caught("S7"));
  }
}

TEST_CASE("what a disk has left counts") {
  HealthyWorld h;
  const std::vector<Share> gang = {{PartitionId{0}, gpus({3})}, {PartitionId{1}, gpus({4})}};
  Commit commit;
  commit.attempt = kOne;
  commit.gang = gang;
  const Record left = ShareCommitted{kOne, AgentId{0}, commit};
  h.checker.new_disk(kB, {&left, 1});
  h.write(kB, ShareLaunched{kOne});
  CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
}

TEST_CASE("S15: what is over is not committed again") {
  HealthyWorld h;
  h.write(kB, ShareReleased{kOne});
  h.commit(kB, kOne, {{PartitionId{0}, gpus({3})}, {PartitionId{1}, gpus({4})}});
  CHECK(h.caught("S15"));
}

TEST_CASE("S16: a job that has no attempt has not finished") {
  HealthyWorld h;
  h.accept(kA, kOther.job);
  JobEnded ended{kOther.job, {}};
  ended.state.phase = JobPhase::finished;
  h.write(kA, ended);
  CHECK(h.caught("S16"));
}

TEST_CASE("S7, S9, S11: what an agent or an executor has in memory is looked at") {
  HealthyWorld h;
  ScriptedOwner owner;
  AgentState agent = owner.agent->state();
  h.checker.look_at(kNow, kA, agent);
  CHECK_FALSE(h.checker.violation());
  ExecutorConfig config;
  config.me = executor_node(0);
  config.servers = {0, 1};
  ExecutorState executor(config, owner.topology);
  executor.epoch = Epoch{4};
  h.checker.look_at(kNow, executor_node(0), executor);
  CHECK_FALSE(h.checker.violation());
  SUBCASE("more than an agent may have") {
    agent.loop.emplace_back(Ping{});
    h.checker.look_at(kNow, kA, agent);
    CHECK(h.caught("S11"));
  }
  SUBCASE("more than an executor may have") {
    executor.pinged.resize(1000);
    h.checker.look_at(kNow, executor_node(0), executor);
    CHECK(h.caught("S11"));
  }
  SUBCASE("an epoch that an executor obeyed has fallen") {
    executor.epoch = Epoch{3};
    h.checker.look_at(kNow, executor_node(0), executor);
    CHECK(h.caught("S7"));
  }
  SUBCASE("an epoch that an agent has seen has fallen") {
    agent.flock.peers[1].epoch = Epoch{0};
    h.checker.look_at(kNow, kA, agent);
    CHECK(h.caught("S7"));
  }
}

}  // namespace
}  // namespace starling
