#include "sim/checker.h"

#include <doctest/doctest.h>

// A checker that has never caught anything is unproven: every rule is shown a world that breaks it.

namespace starling {
namespace {

constexpr Instant kNow{std::chrono::seconds(3)};
constexpr JobId kJob{0, 7};
constexpr AttemptId kOne{kJob, Epoch{1}, 1};
constexpr AttemptId kTwo{kJob, Epoch{1}, 2};
constexpr AttemptId kOther{{0, 8}, Epoch{1}, 1};
const NodeId kA = agent_node(AgentId{0});
const NodeId kB = agent_node(AgentId{1});

std::vector<PeerAgent> two_partitions() {
  return {{AgentId{0}, {PartitionId{0}, {0, 1}, {0, 4}}},
          {AgentId{1}, {PartitionId{1}, {1, 2}, {4, 8}}}};
}
Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement all;
  for (const std::uint32_t i : ids) all.push_back(GpuId{i});
  return all;
}

/// A gang of both partitions, decided, committed, held and running.
struct Healthy {
  explicit Healthy(std::uint32_t jobs_per_gpu = 1) : checker(two_partitions(), jobs_per_gpu) {
    const std::vector<Share> gang = {{PartitionId{0}, gpus({3})}, {PartitionId{1}, gpus({4})}};
    write(kA, LifeBegan{Incarnation{1}, Epoch{1}});
    write(kB, LifeBegan{Incarnation{1}, Epoch{1}});
    JobAccepted accepted;
    accepted.submit.spec.id = kJob;
    write(kA, accepted);
    write(kA, AttemptStarting{kOne, gang});
    write(kA, ShareCommitted{kOne, AgentId{0}, {}});
    write(kB, ShareCommitted{kOne, AgentId{0}, {}});
    world.processes = {{kOne, gpus({3})}, {kOne, gpus({4})}};
    world.ledgers = {{PartitionId{0}, kA, {0, 4}, false, 3, 0, {{kOne, gpus({3})}}},
                     {PartitionId{1}, kB, {4, 8}, false, 3, 0, {{kOne, gpus({4})}}}};
  }
  void write(NodeId node, const Record& record) { checker.wrote(kNow, node, {&record, 1}); }
  bool caught(const std::string& rule) {
    checker.look(kNow, world);
    const auto& v = checker.violation();
    return v && v->rfind(rule + " is violated at 3.000000000 s", 0) == 0;
  }
  Checker checker;
  WorldView world;
};

Submit submit_of(JobId job) {
  Submit submit;
  submit.spec.id = job;
  return submit;
}
JobState state_of(JobId job, JobPhase phase) {
  JobState state;
  state.job = job;
  state.phase = phase;
  return state;
}

TEST_CASE("a healthy world is not accused") {
  Healthy h;
  h.checker.look(kNow, h.world);
  h.checker.arrived(kNow, client_node(0), kA, submit_of(kJob));
  h.checker.arrived(kNow, kA, client_node(0), Accepted{kJob, AgentId{0}});
  h.checker.arrived(kNow, kA, executor_node(0),
                    Launch{kOne, {PartitionId{0}, Epoch{1}}, {}, {}, {}, {}});
  h.write(kA, LifeBegan{Incarnation{2}, Epoch{1}});
  h.write(kA, JobEnded{kJob, {}});
  h.world.processes.clear();
  h.checker.look(kNow, h.world);
  CHECK_MESSAGE(!h.checker.violation(), h.checker.violation().value_or(""));
}

TEST_CASE("S1: two processes on one GPU") {
  Healthy h;
  h.world.processes.push_back({kOther, gpus({3})});
  CHECK(h.caught("S1"));
}

TEST_CASE("S1, S9: where two jobs may share a GPU, three may not") {
  Healthy h(2);
  const auto add = [&h](AttemptId attempt) {
    h.write(kA, AttemptStarting{attempt, {{PartitionId{0}, gpus({3})}}});
    h.world.ledgers[0].holds.push_back({attempt, gpus({3})});
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
  Healthy h(2);
  h.world.processes.push_back({kOne, gpus({3})});
  CHECK(h.caught("S1"));
}

TEST_CASE("S2: a process that the ledger does not know") {
  Healthy h;
  h.world.ledgers[1].holds.clear();
  h.world.ledgers[1].free = 4;
  SUBCASE("is one too many") { CHECK(h.caught("S2")); }
  SUBCASE("is excused while the owner asks around") {
    h.world.ledgers[1].reconciling = true;
    h.checker.look(kNow, h.world);
    CHECK_FALSE(h.checker.violation());
  }
}

TEST_CASE("S3: two attempts of one job run") {
  Healthy h;
  h.write(kA, AttemptStarting{kTwo, {{PartitionId{0}, gpus({2})}}});
  h.write(kA, ShareCommitted{kTwo, AgentId{0}, {}});
  h.world.processes.push_back({kTwo, gpus({2})});
  h.world.ledgers[0].holds.push_back({kTwo, gpus({2})});
  h.world.ledgers[0].free = 2;
  CHECK(h.caught("S3"));
}

TEST_CASE("S4: a gang runs before everybody has committed") {
  Healthy h;
  h.write(kA, AttemptStarting{kOther, {{PartitionId{0}, gpus({0})}, {PartitionId{1}, gpus({5})}}});
  h.write(kA, ShareCommitted{kOther, AgentId{0}, {}});
  h.world.processes.push_back({kOther, gpus({0})});
  h.world.ledgers[0].holds.push_back({kOther, gpus({0})});
  h.world.ledgers[0].free = 2;
  CHECK(h.caught("S4"));
}

TEST_CASE("S4: one record is enough for a gang of the home's own partition, not of another's") {
  Healthy h;
  h.world.ledgers[0].free = 2;
  h.world.ledgers[0].holds.push_back({kOther, gpus({0})});
  h.world.processes.push_back({kOther, gpus({0})});
  SUBCASE("own") {
    h.write(kA, AttemptStarting{kOther, {{PartitionId{0}, gpus({0})}}});
    h.checker.look(kNow, h.world);
    CHECK_FALSE(h.checker.violation());
  }
  SUBCASE("another's") {
    h.write(kB, AttemptStarting{kOther, {{PartitionId{0}, gpus({0})}}});
    CHECK(h.caught("S4"));
  }
  SUBCASE("nobody's decision") { CHECK(h.caught("S4")); }
}

TEST_CASE("S5: a job ends twice, or starts after its end") {
  Healthy h;
  h.write(kA, JobEnded{kJob, {}});
  SUBCASE("twice") { h.write(kB, JobEnded{kJob, {}}); }
  SUBCASE("starts again") { h.write(kA, AttemptStarting{kTwo, {}}); }
  CHECK(h.caught("S5"));
}

TEST_CASE("S6: an acknowledgement without a record") {
  Healthy h;
  h.checker.arrived(kNow, client_node(0), kB, submit_of({0, 99}));
  h.checker.arrived(kNow, kB, client_node(0), Accepted{{0, 99}, AgentId{1}});
  CHECK(h.caught("S6"));
}

TEST_CASE("S7: epochs and incarnations fall") {
  Healthy h;
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
  Healthy h;
  h.checker.arrived(kNow, kB, executor_node(0),
                    Launch{kOne, {PartitionId{0}, Epoch{1}}, {}, {}, {}, {}});
  CHECK(h.caught("S8"));
}

TEST_CASE("S9: a GPU is lost, or held twice") {
  Healthy h;
  SUBCASE("quarantined for nothing") {
    h.world.ledgers[0].free = 2;
    h.world.ledgers[0].quarantined = 1;
  }
  SUBCASE("lost") { h.world.ledgers[0].free = 2; }
  SUBCASE("held twice") { h.world.ledgers[0].holds.push_back({kOther, gpus({3})}); }
  SUBCASE("somebody else's") { h.world.ledgers[0].holds.push_back({kOther, gpus({5})}); }
  SUBCASE("more quarantined than bad") {
    h.world.ledgers[0].free = 1;
    h.world.ledgers[0].quarantined = 2;
    h.world.ledgers[0].sick = 1;
  }
  SUBCASE("drained and free") { h.world.ledgers[0].drained = 1; }
  CHECK(h.caught("S9"));
}

TEST_CASE("S9: bad and drained GPUs are in the sum") {
  Healthy h;
  REQUIRE(h.world.ledgers[0].free == 3);
  h.world.ledgers[0].free = 1;
  h.world.ledgers[0].quarantined = h.world.ledgers[0].sick = 1;
  h.world.ledgers[0].drained = 1;
  CHECK_FALSE(h.caught("S9"));
}

TEST_CASE("S13: what a client is told is not one story") {
  Healthy h;
  const NodeId client = client_node(0);
  const auto told = [&](Message message, std::uint64_t life = 1) {
    h.checker.arrived(kNow, kA, client, message, Incarnation{life});
  };
  SUBCASE("accepted, and nobody had asked") { told(Accepted{kJob, AgentId{0}}); }
  SUBCASE("accepted and then") {
    h.checker.arrived(kNow, client, kA, submit_of(kJob));
    told(Accepted{kJob, AgentId{0}}, 2);
    told(state_of(kJob, JobPhase::unknown));  // of an earlier life, which may know less
    CHECK_FALSE(h.checker.violation());
    SUBCASE("refused") { told(Rejected{kJob, Refusal::invalid, {}}); }
    SUBCASE("forgotten") { told(state_of(kJob, JobPhase::unknown), 2); }
    SUBCASE("ended in two ways") {
      h.write(kA, JobEnded{kJob, {}});
      told(state_of(kJob, JobPhase::finished));
      told(state_of(kJob, JobPhase::failed));
    }
  }
  CHECK(h.checker.violation()->substr(0, 4) == "S13 ");
}

TEST_CASE("S10, S14, S15: what the world saw becomes a violation, unless the rule is excused") {
  Healthy h;
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
