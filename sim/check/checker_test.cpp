// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/check/healthy_world_test.h"

// A checker that has never caught anything is unproven: every rule is shown a world that breaks it.

namespace starling {
namespace {

TEST_CASE("a healthy world is not accused") {
  HealthyWorld h;
  h.checker.look(kNow, h.world);
  h.checker.arrived(kNow, client_node(0), kA, submit_of(kJob));
  h.checker.arrived(kNow, kA, client_node(0), Accepted{kJob, AgentId{0}});
  h.checker.arrived(kNow, kA, executor_node(0),
                    Launch{kOne, {PartitionId{0}, Epoch{1}}, {}, {}, {}, {}});
  h.write(kA, LifeBegan{Incarnation{2}, Epoch{1}});
  h.answers(0, Epoch{1});
  h.write(kA, JobEnded{kJob, {}});
  h.world.processes.clear();
  h.checker.look(kNow, h.world);
  CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
}

TEST_CASE("S1: two processes on one GPU") {
  HealthyWorld h;
  h.world.processes.push_back({kOther, gpus({3})});
  CHECK(h.caught("S1"));
}

TEST_CASE("S1, S9: where two jobs may share a GPU, three may not") {
  HealthyWorld h(2);
  const auto add = [&h](AttemptId attempt) {
    const std::vector<Share> gang = {{PartitionId{0}, gpus({3})}};
    h.accept(kA, attempt.job);
    h.write(kA, AttemptStarting{attempt, gang});
    h.commit(kA, attempt, gang);
    h.take(0, attempt, gpus({3}));
  };
  add(kOther);
  h.world.processes.push_back({kOther, gpus({3})});
  h.checker.look(kNow, h.world);
  CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
  const AttemptId third{{0, 9}, Epoch{1}, 1};
  add(third);
  SUBCASE("processes") {
    h.world.processes.push_back({third, gpus({3})});
    CHECK(h.caught("S1"));
  }
  SUBCASE("holds") { CHECK(h.caught("S9")); }
}

TEST_CASE("S1: nor two of one attempt") {
  HealthyWorld h(2);
  h.world.processes.push_back({kOne, gpus({3})});
  CHECK(h.caught("S1"));
}

TEST_CASE("S18: a second attempt of a job that must not be started again") {
  HealthyWorld h;
  JobSpec spec;
  spec.id = {0, 9};
  spec.no_requeue = true;
  h.write(kA, JobAccepted{{spec, NodeId{0x0200'0000}, Duration{0}, Duration{0}, 0}, 9});
  const AttemptId first{spec.id, Epoch{1}, 1}, second{spec.id, Epoch{1}, 2};
  const std::vector<Share> gang = {{PartitionId{0}, gpus({2})}};
  h.write(kA, AttemptStarting{first, gang});
  h.write(kA, AttemptDraining{first});
  h.write(kA, AttemptOver{first, Duration{0}});
  CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
  h.write(kA, AttemptStarting{second, gang});
  CHECK(h.caught("S18"));
}

TEST_CASE("S2: a process that the ledger does not know") {
  HealthyWorld h;
  LedgerView& ledger = h.world.ledgers[1];
  ledger.holds.clear();
  SUBCASE("on a GPU that would be given away") {
    ledger.free = gpus({4, 5, 6, 7});
    ledger.counted.free = ledger.told.free = 4;
  }
  SUBCASE("also while its owner still asks around") {
    ledger.free.clear();
    ledger.executors[0].answered = false;
    ledger.counted = ledger.told = {0, 4, 0, 0};
  }
  SUBCASE("or knows on another GPU") { ledger.holds = {{kOne, gpus({5})}}; }
  CHECK(h.caught("S2"));
}

TEST_CASE("S2: a process that the journal of its partition does not know, whichever nodes are up") {
  HealthyWorld h;
  h.world.ledgers.clear();  // all owners are down
  SUBCASE("and that is all") {
    h.checker.look(kNow, h.world);
    CHECK_FALSE(h.checker.violation());
  }
  SUBCASE("released") {
    h.write(kB, ShareReleased{kOne});
    CHECK(h.caught("S2"));
  }
  SUBCASE("on another GPU") {
    h.world.processes[1].gpus = gpus({5});
    CHECK(h.caught("S2"));
  }
}

TEST_CASE("S3: two attempts of one job run") {
  HealthyWorld h;
  const std::vector<Share> gang = {{PartitionId{0}, gpus({2})}};
  h.write(kA, AttemptDraining{kOne});
  h.write(kA, AttemptOver{kOne, {}});
  h.write(kA, AttemptStarting{kTwo, gang});
  h.commit(kA, kTwo, gang);
  h.world.processes.push_back({kTwo, gpus({2})});
  h.take(0, kTwo, gpus({2}));
  CHECK(h.caught("S3"));
}

TEST_CASE("S3: a journal opens an attempt beside another") {
  HealthyWorld h;
  h.write(kA, AttemptStarting{kTwo, {{PartitionId{0}, gpus({2})}}});
  CHECK(h.caught("S3"));
}

TEST_CASE("S4: a gang runs before every owner has committed") {
  HealthyWorld h;
  const std::vector<Share> gang = {{PartitionId{0}, gpus({0})}, {PartitionId{1}, gpus({5})}};
  h.accept(kA, kOther.job);
  h.write(kA, AttemptStarting{kOther, gang});
  h.commit(kA, kOther, gang);
  h.world.processes.push_back({kOther, gpus({0})});
  h.take(0, kOther, gpus({0}));
  CHECK(h.caught("S4"));
}

TEST_CASE("S4: one record is enough for a gang of the home's own partition, not of another's") {
  HealthyWorld h;
  const std::vector<Share> gang = {{PartitionId{0}, gpus({0})}};
  h.take(0, kOther, gpus({0}));
  h.world.processes.push_back({kOther, gpus({0})});
  SUBCASE("own") {
    h.accept(kA, kOther.job);
    h.write(kA, AttemptStarting{kOther, gang});
    h.commit(kA, kOther, gang);
    h.checker.look(kNow, h.world);
    CHECK_FALSE(h.checker.violation());
  }
  SUBCASE("another's") {
    h.accept(kB, kOther.job);
    h.write(kB, AttemptStarting{kOther, gang});
    CHECK(h.caught("S4"));
  }
  SUBCASE("a decision of no owner") { CHECK(h.caught("S4")); }
}

TEST_CASE("S5: a job ends twice, or starts after its end") {
  HealthyWorld h;
  h.write(kA, JobEnded{kJob, {}});
  SUBCASE("twice") { h.write(kB, JobEnded{kJob, {}}); }
  SUBCASE("starts again") { h.write(kA, AttemptStarting{kTwo, {}}); }
  CHECK(h.caught("S5"));
}

TEST_CASE("S6: an acknowledgement without a record") {
  HealthyWorld h;
  h.checker.arrived(kNow, client_node(0), kB, submit_of({0, 99}));
  h.checker.arrived(kNow, kB, client_node(0), Accepted{{0, 99}, AgentId{1}});
  CHECK(h.caught("S6"));
}

TEST_CASE("S6: a client is told of an end that is in no journal, or of another one") {
  HealthyWorld h;
  h.checker.arrived(kNow, client_node(0), kA, submit_of(kJob));
  JobState told = state_of(kJob, JobPhase::failed);
  SUBCASE("none") {}
  SUBCASE("another") {
    h.checker.process_ended(kOne, 1, 3, false);
    JobEnded ended{kJob, told};
    ended.state.exit.code = 3;
    h.write(kA, ended);
    h.world.processes.clear();
    told.exit.code = 4;
  }
  told.attempts = 1;
  h.checker.arrived(kNow, kA, client_node(0), told, Incarnation{1}, 9);
  CHECK(h.caught("S6"));
}

TEST_CASE("S7: epochs and incarnations fall") {
  HealthyWorld h;
  SUBCASE("an executor forgets") {
    h.write(executor_node(0), EpochSeen{PartitionId{0}, Epoch{4}});
    h.write(executor_node(0), EpochSeen{PartitionId{0}, Epoch{3}});
  }
  SUBCASE("an agent lives the same life again") {
    h.write(kA, LifeBegan{Incarnation{1}, Epoch{1}});
  }
  CHECK(h.caught("S7"));
}

TEST_CASE("S8: two owners of one partition at one epoch") {
  HealthyWorld h;
  h.checker.arrived(kNow, kB, executor_node(0),
                    Launch{kOne, {PartitionId{0}, Epoch{1}}, {}, {}, {}, {}});
  CHECK(h.caught("S8"));
}

TEST_CASE("S9: a GPU is lost, or held twice, or trusted too early") {
  HealthyWorld h;
  LedgerView& ledger = h.world.ledgers[0];
  SUBCASE("lost") { ledger.free = gpus({0, 1}); }
  SUBCASE("lost, and the figures know it") {
    ledger.free = gpus({0, 1});
    ledger.counted = ledger.told = {2, 1, 0, 0};
  }
  SUBCASE("held twice") { ledger.holds.push_back({kOther, gpus({3})}); }
  SUBCASE("of another partition") { ledger.holds.push_back({kOther, gpus({5})}); }
  SUBCASE("held and free") { ledger.free = gpus({0, 1, 2, 3}); }
  SUBCASE("bad and free") { ledger.bad = gpus({1}); }
  SUBCASE("drained and free") { ledger.drained = {{0, 2}}; }
  SUBCASE("of a silent executor and free") { ledger.executors[0].answered = false; }
  SUBCASE("counted wrongly") { ++ledger.counted.free; }
  SUBCASE("told wrongly") { ++ledger.told.quarantined; }
  SUBCASE("trusted by the next life, which was not told what runs there") {
    h.write(kA, LifeBegan{Incarnation{2}, Epoch{1}});
  }
  SUBCASE("trusted on a word to an earlier owner") {
    h.write(kA, LifeBegan{Incarnation{2}, Epoch{2}});
    h.answers(0, Epoch{1});
  }
  CHECK(h.caught("S9"));
}

TEST_CASE("S9: bad and drained GPUs are in the sum") {
  HealthyWorld h;
  LedgerView& ledger = h.world.ledgers[0];
  ledger.free = gpus({2});
  ledger.bad = gpus({0});
  ledger.drained = {{1, 2}};
  ledger.counted = ledger.told = {1, 1, 1, 1};
  CHECK_FALSE(h.caught("S9"));
  CHECK_FALSE(h.checker.violation());
}

TEST_CASE("S13: a client is told what goes back, or shows it") {
  HealthyWorld h;
  const NodeId client = client_node(0);
  h.checker.arrived(kNow, client, kA, submit_of(kJob));
  const auto told = [&](std::uint64_t sequence, JobPhase phase) {
    JobState state = state_of(kJob, phase);
    state.attempts = 1;
    h.checker.arrived(kNow, kA, client, state, Incarnation{1}, sequence);
  };
  SUBCASE("told") {
    told(2, JobPhase::running);
    CHECK_FALSE(h.checker.violation());
    told(3, JobPhase::starting);
  }
  SUBCASE("by a life that should know better") {
    h.checker.arrived(kNow, kA, client, state_of(kJob, JobPhase::unknown), Incarnation{2}, 1);
  }
  SUBCASE("shown") {
    JobOutcome job;
    job.job = kJob;
    job.accepted = true;
    h.checker.shows(kNow, client, {&job, 1});
    job.accepted = false;
    job.rejected = true;
    h.checker.shows(kNow, client, {&job, 1});
  }
  CHECK(h.caught("S13"));
}

TEST_CASE("S15: memory is not what the journal says, or the journal contradicts itself") {
  HealthyWorld h;
  SUBCASE("a share is launched that was not committed") { h.write(kB, ShareLaunched{kOther}); }
  SUBCASE("a process exits that was never launched") {
    h.write(executor_node(0), ProcessExited{kOther, {}, {}});
  }
  SUBCASE("a process is launched again after its end") {
    h.write(executor_node(0), ProcessForgotten{kOther});
    Launch launch;
    launch.attempt = kOther;
    h.write(executor_node(0), ProcessLaunching{launch});
  }
  SUBCASE("a snapshot leaves a job out") {
    const Record only = LifeBegan{Incarnation{1}, Epoch{1}};
    h.checker.compacted(kNow, kA, {&only, 1});
  }
  CHECK(h.caught("S15"));
}

TEST_CASE("S16: the end of a job is the end of its processes") {
  HealthyWorld h;
  JobEnded ended{kJob, {}};
  ended.state.phase = JobPhase::finished;
  const auto exits = [&](std::int32_t code, bool stopped = false) {
    h.checker.process_ended(kOne, 1, code, stopped);
  };
  SUBCASE("finished, and nothing has ended") { h.write(kA, ended); }
  SUBCASE("finished, and one part has not") {
    exits(0);
    h.write(kA, ended);
  }
  SUBCASE("failed") {
    ended.state.phase = JobPhase::failed;
    ended.state.exit.code = 3;
    SUBCASE("with another code") { exits(4); }
    SUBCASE("by being stopped") { exits(3, true); }
    SUBCASE("though its host was lost") {
      exits(3);
      ended.state.exit.lost = true;
    }
    h.write(kA, ended);
  }
  SUBCASE("started with service that was not given") { h.checker.overclaimed(kNow, "too much"); }
  SUBCASE("as it is") {
    exits(0);
    exits(0);
    h.write(kA, ended);
    h.world.processes.clear();
    h.checker.look(kNow, h.world);
    CHECK_FALSE(h.checker.violation());
    return;
  }
  CHECK(h.caught("S16"));
}

TEST_CASE("S10, S14, S15: what the world saw becomes a violation, unless the rule is excused") {
  HealthyWorld h;
  h.checker.excuse("S10");
  h.checker.took_refused(kNow, kA, "took it");
  CHECK_FALSE(h.checker.violation());
  SUBCASE("S14") {
    h.checker.spoke_after_refusal(kNow, kA);
    CHECK(h.caught("S14"));
  }
  SUBCASE("S15") {
    h.checker.memory_differs(kNow, kA, "it differs");
    CHECK(h.caught("S15"));
  }
}

}  // namespace
}  // namespace starling
