// SPDX-License-Identifier: Apache-2.0
// Journals that a few records make: what follows from each, in memory and in a snapshot.
#include <doctest/doctest.h>

#include "agents/executor/executor_state.h"
#include "agents/owner/scripted_owner_test.h"
#include "sim/check/durable.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const AttemptId kFirst{{0, 7}, Epoch{1}, 1};

JobAccepted accepted(JobId id, std::uint64_t order = 1) {
  JobAccepted record;
  record.submit.spec.id = id;
  record.submit.client = client_node(0);
  record.order = order;
  return record;
}
ShareCommitted committed(AttemptId attempt, Placement gpus) {
  Commit commit;
  commit.attempt = attempt;
  commit.gang = {{PartitionId{0}, std::move(gpus)}, {PartitionId{1}, {GpuId{4}}}};
  return {attempt, AgentId{1}, commit};
}

/// Agent 0's, or an executor's.
struct Journaled {
  explicit Journaled(std::optional<AgentId> me = AgentId{0}) : journal(me) {}
  void write(const Record& record) {
    CHECK(journal.apply(record) == "");
    records.push_back(record);
  }
  Durable journal;
  std::vector<Record> records;
};

TEST_CASE("a snapshot says what its journal said, neither more nor less") {
  Journaled j;
  j.write(LifeBegan{Incarnation{1}, Epoch{4}});
  j.write(accepted({0, 7}));
  j.write(accepted({0, 8}, 2));
  j.write(AttemptStarting{kFirst, {{PartitionId{1}, {GpuId{5}}}}});
  j.write(committed({{0, 9}, Epoch{1}, 1}, {GpuId{0}}));
  j.write(ServerDrained{ServerId{0}, true});
  j.write(DrainVersion{ServerId{0}, 3});
  j.write(EpochSeen{PartitionId{1}, Epoch{2}});
  std::vector<Record> snapshot = j.records;
  const auto at = [&](std::size_t i) -> Record& { return snapshot[i]; };
  SUBCASE("a client") { std::get<JobAccepted>(at(1)).submit.client = client_node(1); }
  SUBCASE("a way") { std::get<JobAccepted>(at(1)).submit.forwards = 1; }
  SUBCASE("a place") { std::get<JobAccepted>(at(2)).order = 3; }
  SUBCASE("a size") { std::get<JobAccepted>(at(2)).submit.spec.workers = 2; }
  SUBCASE("service") { std::get<JobAccepted>(at(2)).submit.served = 1s; }
  SUBCASE("attempts") { snapshot.push_back(JobPast{{0, 8}, 0s, -1ns, 1, 0, 0}); }
  SUBCASE("times that it was stopped") { snapshot.push_back(JobPast{{0, 8}, 0s, -1ns, 0, 1, 0}); }
  SUBCASE("lost attempts") { snapshot.push_back(JobPast{{0, 8}, 0s, -1ns, 0, 0, 1}); }
  SUBCASE("a stage") { snapshot.push_back(AttemptDraining{kFirst}); }
  SUBCASE("an attempt") { ++std::get<AttemptStarting>(at(3)).attempt.number; }
  SUBCASE("a gang") { std::get<AttemptStarting>(at(3)).gang[0].gpus = {GpuId{6}}; }
  SUBCASE("an offer") { snapshot.push_back(JobOffered{{0, 8}, AgentId{1}}); }
  SUBCASE("a share") { std::get<ShareCommitted>(at(4)).commit.gang[0].gpus = {GpuId{1}}; }
  SUBCASE("a drained server") { snapshot.erase(snapshot.begin() + 5); }
  SUBCASE("an operator's word") { snapshot.erase(snapshot.begin() + 6); }
  SUBCASE("an epoch") { snapshot.erase(snapshot.begin() + 7); }
  SUBCASE("a job less") { snapshot.erase(snapshot.begin() + 2); }
  SUBCASE("the same") {
    CHECK(j.journal.compacted(snapshot) == "");
    return;
  }
  CHECK(j.journal.compacted(snapshot) != "");
}

TEST_CASE("how often a job was stopped or lost follows from why it was drained") {
  Journaled j;
  j.write(accepted({0, 7}));
  j.write(AttemptStarting{kFirst, {}});
  j.write(AttemptDraining{kFirst});
  std::uint32_t stopped = 0, lost = 0;
  SUBCASE("for another") { stopped = 1; }
  SUBCASE("because something failed") {
    j.write(AttemptPlan{kFirst, AfterDrain::retry, {}, {}});
    lost = 1;
  }
  SUBCASE("to start it elsewhere") { j.write(AttemptPlan{kFirst, AfterDrain::restart, {}, {}}); }
  j.write(AttemptOver{kFirst, 2s});
  const Durable::Job& job = *j.journal.open({0, 7});
  CHECK(job.preemptions == stopped);
  CHECK(job.lost_attempts == lost);
  CHECK(job.stage == Durable::Stage::waiting);
  CHECK(job.served == 2s);
}

TEST_CASE("where a job went, and that it went, is in memory as in the journal") {
  Journaled j;
  j.write(LifeBegan{Incarnation{1}, Epoch{4}});
  j.write(accepted({0, 8}));
  j.write(JobOffered{{0, 8}, AgentId{1}});
  j.write(JobMoved{{0, 8}, AgentId{1}});
  ScriptedOwner owner;
  AgentState state = owner.agent->state();
  state.home.remembered.moved[JobId{0, 8}] = Moved{AgentId{1}, 1, {}};
  REQUIRE(j.journal.differs(state) == "");
  SUBCASE("not at all") { state.home.remembered.moved.clear(); }
  SUBCASE("to another") { state.home.remembered.moved.begin()->second.to = AgentId{0}; }
  SUBCASE("on another way") { ++state.home.remembered.moved.begin()->second.forwards; }
  SUBCASE("another one, too") {
    state.home.remembered.moved[JobId{0, 9}] = Moved{AgentId{1}, 1, {}};
  }
  CHECK(j.journal.differs(state) != "");
}

TEST_CASE("a job that moved and came back has left nothing that must be in memory") {
  Journaled j;
  j.write(LifeBegan{Incarnation{1}, Epoch{4}});
  j.write(accepted({0, 8}));
  j.write(JobOffered{{0, 8}, AgentId{1}});
  j.write(JobMoved{{0, 8}, AgentId{1}});
  j.write(accepted({0, 8}));
  j.write(AttemptStarting{{{0, 8}, Epoch{1}, 1}, {}});
  j.write(JobEnded{{0, 8}, {}});
  ScriptedOwner owner;
  AgentState state = owner.agent->state();
  state.home.remembered.ended.emplace(JobId{0, 8}, JobState{});
  CHECK(j.journal.differs(state) == "");
  state.home.remembered.moved[JobId{0, 8}] = Moved{AgentId{1}, 1, {}};
  CHECK(j.journal.differs(state) == "");
}

TEST_CASE("what is over for an owner is over in memory and in the journal") {
  Journaled j;
  j.write(LifeBegan{Incarnation{1}, Epoch{4}});
  j.write(committed(kFirst, {GpuId{0}}));
  j.write(ShareReleased{kFirst});
  ScriptedOwner owner;
  AgentState state = owner.agent->state();
  CHECK(j.journal.differs(state) != "");
  state.owner.ledger.tombstones().add(kFirst, {0s, Instant{}, true});
  CHECK(j.journal.differs(state) == "");
  state.owner.ledger.tombstones().add({{0, 9}, Epoch{1}, 1},
                                      {0s, Instant{}, false});  // only reserved
  CHECK(j.journal.differs(state) == "");
  state.config.limits.tombstones = 1;  // then the oldest may be forgotten
  const AttemptId only[] = {kFirst};
  state.owner.ledger.tombstones().drop(only);
  CHECK(j.journal.differs(state) == "");
}

TEST_CASE("an agent's own epoch is that of its life, others' are what it has written") {
  Journaled j;
  j.write(LifeBegan{Incarnation{1}, Epoch{4}});
  ScriptedOwner owner;
  AgentState state = owner.agent->state();
  REQUIRE(j.journal.differs(state) == "");
  SUBCASE("its own") { state.flock.peers[0].epoch = Epoch{3}; }
  SUBCASE("another's") { state.flock.peers[1].epoch = Epoch{4}; }
  CHECK(j.journal.differs(state) != "");
}

/// One attempt that is being stopped, in the journal and in memory.
struct Stopping : Journaled {
  Stopping() : Journaled(std::nullopt) {
    write(LifeBegan{Incarnation{1}, Epoch{1}});
    Launch launch;
    launch.attempt = kFirst;
    launch.here = {GpuId{0}};
    write(ProcessLaunching{launch});
    write(ProcessStopping{kFirst, why});
    ExecutorConfig config;
    config.me = executor_node(0);
    config.servers = {0, 1};
    state = std::make_unique<ExecutorState>(config, owner.topology);
    state->epoch = Epoch{1};
    Run& run = state->runs[kFirst];
    run.launch = launch;
    run.phase = Run::Phase::stopping;
    run.exit = why;
  }
  const ExitStatus why{0, true, "stopped"};
  ScriptedOwner owner;
  std::unique_ptr<ExecutorState> state;
};

TEST_CASE("why an executor stops an attempt is in memory as in the journal") {
  Stopping s;
  REQUIRE(s.journal.differs(*s.state) == "");
  SUBCASE("for another reason") { s.state->runs[kFirst].exit.code = 3; }
  SUBCASE("not at all") { s.state->runs[kFirst].phase = Run::Phase::running; }
  SUBCASE("and it has ended") { s.state->runs[kFirst].phase = Run::Phase::exited; }
  CHECK(s.journal.differs(*s.state) != "");
}

TEST_CASE("an attempt ends as was written when it was stopped") {
  Stopping s;
  SUBCASE("and does") {
    s.write(ProcessExited{kFirst, s.why, 2s});
    s.state->runs[kFirst].phase = Run::Phase::exited;
    CHECK(s.journal.differs(*s.state) != "");
    s.state->runs[kFirst].served = 2s;
    CHECK(s.journal.differs(*s.state) == "");
  }
  SUBCASE("and does not") {
    CHECK(s.journal.apply(ProcessExited{kFirst, {3, false, ""}, 2s}) != "");
  }
}

TEST_CASE("what is over for an executor is never launched again, and is in memory, too") {
  Stopping s;
  s.write(ProcessForgotten{kFirst});
  s.state->runs.clear();
  CHECK(s.journal.differs(*s.state) != "");
  s.state->forgotten.add(kFirst, {0s, Instant{}, true});
  CHECK(s.journal.differs(*s.state) == "");
  Launch launch;
  launch.attempt = kFirst;
  CHECK(s.journal.apply(ProcessLaunching{launch}) != "");
}

TEST_CASE("S15: what the snapshot of a restored journal has in the archive is over") {
  JobsArchived chunk;
  chunk.chunk = 3;
  chunk.jobs = {kFirst.job};
  const std::vector<Record> snapshot{chunk};
  Durable restored(AgentId{0});
  restored.read(snapshot);
  CHECK(restored.ended(kFirst.job) != nullptr);
  CHECK(restored.compacted(snapshot) == "");
  Durable began(AgentId{0});  // nothing was put there
  CHECK(began.compacted(snapshot) != "");
}

}  // namespace
}  // namespace starling
