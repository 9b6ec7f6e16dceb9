// SPDX-License-Identifier: Apache-2.0
// What a peer says of itself: who is let in, and which word is the newest.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "agents/agent/agent.h"
#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "agents/testing/testing.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology two_servers() {
  GeneratorOptions flat;
  flat.servers = 2;
  flat.gpus_per_server = 4;
  return generate_flat(flat).value();
}

/// Agent 0 of two, at epoch 3, with one executor.
struct Bench {
  Topology topology = two_servers();
  std::unique_ptr<SpeedModel> speed = make_flat_speed();
  AgentConfig config;
  std::unique_ptr<Agent> agent;
  Output out;

  Bench() {
    const std::vector<Partition> parts = partition(topology, 2).value();
    for (const Partition& part : parts) config.flock.push_back({AgentId{part.id.value}, part});
    config.epoch = Epoch{3};
    config.executors = {{executor_node(0), parts[0].servers}};
    restart({});
  }
  void restart(const std::vector<Record>& journal) {
    agent = std::make_unique<Agent>(config, topology, *speed,
                                    make_policy_registry().make("fifo").value(), Rng(1), journal);
    agent->step(Instant{1s}, Tick{}, out);
  }
  void hear(NodeId from, const Message& message) {
    out.clear();
    agent->step(Instant{2s}, Received{from, message}, out);
  }
  template <class M>
  [[nodiscard]] std::ptrdiff_t said() const {
    return std::count_if(out.send.begin(), out.send.end(),
                         [](const Send& send) { return std::holds_alternative<M>(send.message); });
  }
};

TEST_CASE("a node of another protocol gets a Goodbye and no Welcome") {
  Bench bench;
  bench.hear(executor_node(0), Hello{Role::executor, kNewestProtocol + 1, kNewestProtocol + 2, {}});
  CHECK(bench.said<Goodbye>() == 1);
  CHECK(bench.said<Welcome>() == 0);
  bench.hear(executor_node(0), Hello{Role::executor, 1, 9, {}});
  CHECK(bench.said<Welcome>() == 1);
}

TEST_CASE(
    "an executor that has read another topology is not worked with until it has the right one") {
  TestFlock flock({.servers = 2, .lossy = true});
  flock.submit(1, 8, 0s);
  flock.run_for(10s);
  REQUIRE(flock.processes() == 2);
  flock.mislead_executor(1);
  flock.crash_executor(1);
  flock.restart_executor(1);
  // Its owner does not know yet: this Launch is on its way.
  Launch launch{{JobId{0, 9}, Epoch{1}, 1}, {PartitionId{0}, Epoch{1}}, {}, {}, {GpuId{4}}, {}};
  launch.gang = {{PartitionId{0}, launch.here}};
  flock.inject_executor(1, agent_node(AgentId{0}), launch);
  CHECK_FALSE(flock.executor(1).runs.contains(launch.attempt));
  flock.run_for(60s);
  CHECK(flock.agent(0).owner.ledger.free_count() == 4);
  CHECK(flock.agent(0).owner.ledger.quarantined_count() == 4);
  CHECK(flock.processes() == 0);
  CHECK_FALSE(flock.executor(1).welcomed);
  flock.ask(0, StatusQuery{});
  bool seen = false, goodbye = false;
  flock.run_for(1s);
  for (const std::string& line : flock.take_transcript()) {
    seen = seen || line.find("1 of another topology") != std::string::npos;
    goodbye = goodbye || line.find("has read another topology") != std::string::npos;
  }
  CHECK(seen);
  CHECK(goodbye);
  flock.mislead_executor(1);
  flock.crash_executor(1);
  flock.restart_executor(1);
  flock.run_for(30s);
  CHECK(flock.processes() == 2);
  CHECK(flock.faults().empty());
}

TEST_CASE("agents with different topologies keep to themselves, and find each other again") {
  for (const char* lost : {"none", "Hello", "Welcome", "Goodbye"}) {
    CAPTURE(lost);
    TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
    flock.run_for(2s);
    flock.mislead_agent(1);
    flock.crash_agent(1);
    flock.lose_next(lost);
    flock.restart_agent(1);
    flock.submit(1, 8, 10s, 0);
    flock.submit(2, 8, 10s, 1);
    flock.run_for(2min);
    CHECK(flock.agent(0).flock.peers[1].watch.foreign);
    CHECK(flock.processes() == 0);
    CHECK(flock.agent(0).counters.cross_partition_gangs == 0);
    flock.mislead_agent(1);
    flock.crash_agent(1);
    flock.restart_agent(1);
    CHECK(flock.settle(10min));
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(flock.phase(2) == JobPhase::finished);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("a journal of what was started with another topology is refused while it is not over") {
  const Topology topology = two_servers();
  ExecutorConfig config;
  config.me = executor_node(0);
  config.servers = {0, 1};
  config.topology = 7;
  Launch launch{{JobId{0, 9}, Epoch{1}, 1}, {PartitionId{0}, Epoch{1}}, {}, {}, {GpuId{1}}, {}};
  launch.spec.workers = launch.spec.gpus_per_worker = 1;
  launch.gang = {{PartitionId{0}, launch.here}};
  std::vector<Record> journal = {LifeBegan{Incarnation{1}, Epoch{1}}, TopologyRead{7},
                                 ProcessLaunching{launch}};
  CHECK(fits_journal(config, topology, journal).ok());
  std::vector<Record> gone = journal;
  Launch elsewhere = launch;
  elsewhere.attempt.number = 2;
  elsewhere.here = {GpuId{99}};
  elsewhere.gang = {{PartitionId{0}, elsewhere.here}};
  gone.push_back(ProcessLaunching{elsewhere});
  CHECK_FALSE(fits_journal(config, topology, gone).ok());
  gone.push_back(ProcessForgotten{elsewhere.attempt});
  REQUIRE(fits_journal(config, topology, gone).ok());
  CHECK(Executor(config, topology, gone).state().runs.size() == 1);
  config.topology = 8;
  const Status refused = fits_journal(config, topology, journal);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("started with another topology") != std::string::npos);
  journal.push_back(ProcessForgotten{launch.attempt});
  CHECK(fits_journal(config, topology, journal).ok());
}

TEST_CASE("roll_call: nothing is promised and nothing told before every peer could object") {
  Bench bench;
  bench.config.roll_call = 2s;
  Submit before;
  before.spec.id = {0, 1};
  before.spec.workers = before.spec.gpus_per_worker = 1;
  bench.restart({JobAccepted{before, 1}});
  Submit fresh = before;
  fresh.spec.id = {0, 2};
  const auto hears = [&](Instant at, NodeId from, const Message& message) {
    bench.out.clear();
    bench.agent->step(at, Received{from, message}, bench.out);
  };
  const Instant born{1s};
  for (const NodeId from : {client_node(0), agent_node(AgentId{1})}) {
    hears(born + 1ms, from, fresh);
    CHECK(bench.said<Busy>() == 1);
    CHECK(bench.said<Accepted>() == 0);
    CHECK(bench.out.persist.empty());
  }
  for (const Message& question : {Message{Query{before.spec.id}}, Message{Query{fresh.spec.id}},
                                  Message{ListJobs{{}, 10}}, Message{Cancel{before.spec.id}}}) {
    hears(born + 2ms, client_node(0), question);
    CHECK(bench.out.send.empty());
    CHECK(bench.out.persist.empty());
  }
  hears(born + 2001ms, client_node(0), fresh);
  CHECK(bench.said<Accepted>() == 1);
  hears(born + 2002ms, client_node(0), Query{before.spec.id});
  CHECK(bench.said<JobState>() == 1);
}

TEST_CASE("roll_call: nothing is launched again for an executor without memory before it is over") {
  Bench bench;
  bench.config.roll_call = 2s;
  Submit before;
  before.spec.id = {0, 1};
  before.spec.workers = before.spec.gpus_per_worker = 1;
  const AttemptId attempt{before.spec.id, Epoch{3}, 1};
  const std::vector<Share> gang{{PartitionId{0}, {GpuId{0}}}};
  bench.restart({JobAccepted{before, 1}, AttemptStarting{attempt, gang},
                 ShareCommitted{attempt, AgentId{0},
                                Commit{attempt, {PartitionId{0}, Epoch{3}}, before.spec, gang}}});
  const auto launches = [&](Instant now, NodeId from, const Message& message) {
    bench.out.clear();
    bench.agent->step(now, Received{from, message}, bench.out);
    bench.agent->step(now, Tick{}, bench.out);
    return bench.said<Launch>();
  };
  const Inventory nothing{{PartitionId{0}, Epoch{3}}, {}};
  const AttemptQuery question{attempt, PartitionId{0}, 7};
  const Instant born{1s};
  CHECK(launches(born + 1ms, executor_node(0), nothing) == 0);
  CHECK(launches(born + 2ms, agent_node(AgentId{1}), question) == 0);
  REQUIRE(bench.said<AttemptAnswer>() == 1);
  for (const Send& send : bench.out.send) {
    if (const auto* answer = std::get_if<AttemptAnswer>(&send.message))
      CHECK(answer->life == AttemptLife::not_ready);
  }
  const auto launched_until = [&](Instant now, Instant end) {
    std::ptrdiff_t launched = 0;
    for (; now < end; now += 100ms) {
      bench.out.clear();
      bench.agent->step(now, Tick{}, bench.out);
      launched += bench.said<Launch>();
    }
    return launched;
  };
  CHECK(launched_until(born + 100ms, born + 2s) == 0);
  // The other agent is silent: once it has had the time to object, the attempt goes on.
  CHECK(launched_until(born + 2s, born + 10s) >= 1);
}

TEST_CASE("roll_call: nothing is decided before every peer has answered, or had the time to") {
  Bench bench;
  bench.config.roll_call = 2s;
  const auto submit = [&](Instant at) {
    Submit job;
    job.spec.id = {0, 1};
    job.spec.workers = job.spec.gpus_per_worker = 1;
    bench.out.clear();
    bench.agent->step(at, Received{client_node(0), job}, bench.out);
  };
  const auto at = [&](Instant now, NodeId from, const Message& message) {
    bench.out.clear();
    bench.agent->step(now, Received{from, message}, bench.out);
    bench.agent->step(now, Tick{}, bench.out);
    return bench.said<Launch>() == 1;
  };
  const Inventory nothing{{PartitionId{0}, Epoch{3}}, {}};
  const Welcome welcome{{PartitionId{1}, Epoch{1}}};
  const Instant born{1s};
  Submit before;
  before.spec.id = {0, 1};
  before.spec.workers = before.spec.gpus_per_worker = 1;
  bench.restart({JobAccepted{before, 1}});
  submit(born + 1ms);
  CHECK(bench.said<Accepted>() == 1);
  bench.agent->step(born + 1ms, Tick{}, bench.out);
  CHECK(bench.agent->next_deadline() > born + 1ms);  // it sleeps until a peer answers
  SUBCASE("all") {
    CHECK_FALSE(at(born + 2ms, executor_node(0), nothing));
    CHECK(at(born + 3ms, agent_node(AgentId{1}), welcome));
  }
  SUBCASE("the executor last") {
    CHECK_FALSE(at(born + 2ms, agent_node(AgentId{1}), welcome));
    CHECK(at(born + 3ms, executor_node(0), nothing));
  }
  SUBCASE("time is up") {
    CHECK_FALSE(at(born + 2ms, executor_node(0), nothing));
    CHECK(bench.agent->next_deadline() <= born + 2s);
    bench.out.clear();
    bench.agent->step(born + 1999ms, Tick{}, bench.out);
    CHECK(bench.said<Launch>() == 0);
    bench.agent->step(born + 2s, Tick{}, bench.out);
    CHECK(bench.said<Launch>() == 1);
  }
}

TEST_CASE("a home's next life knows which owner was deposed") {
  Bench bench;
  std::vector<Record> journal = {LifeBegan{Incarnation{1}, Epoch{3}}};
  const auto hear_of = [&](std::uint64_t epoch) {
    bench.hear(agent_node(AgentId{1}), Welcome{{PartitionId{1}, Epoch{epoch}}});
    journal.insert(journal.end(), bench.out.persist.begin(), bench.out.persist.end());
    return bench.out.persist.size();
  };
  CHECK(hear_of(1) == 0);
  CHECK(hear_of(5) == 1);
  CHECK(hear_of(5) == 0);
  CHECK(hear_of(4) == 0);
  for (const std::vector<Record>& kept : {journal, bench.agent->snapshot()}) {
    bench.restart(kept);
    bench.hear(agent_node(AgentId{1}), Welcome{{PartitionId{1}, Epoch{4}}});
    CHECK(bench.agent->state().flock.peers[1].epoch == Epoch{5});
  }
}

TEST_CASE("an overtaken digest changes nothing") {
  Bench bench;
  const auto tell = [&](std::uint64_t version, std::uint32_t free) {
    Digest digest;
    digest.fence = {PartitionId{1}, Epoch{1}};
    digest.version = version;
    digest.gpus = 4;
    digest.free = free;
    bench.hear(agent_node(AgentId{1}), digest);
    return bench.agent->state().flock.peers[1].digest->free;
  };
  CHECK(tell(5, 3) == 3);
  CHECK(tell(4, 1) == 3);
  CHECK(tell(6, 2) == 2);
}

TEST_CASE("an inventory that an earlier owner asked for is not believed") {
  Bench bench;
  bench.hear(executor_node(0), Inventory{{PartitionId{0}, Epoch{2}}, {}});
  CHECK(bench.agent->state().owner.reconciling());
  CHECK(bench.agent->state().owner.ledger.free_count() == 0);
  bench.hear(executor_node(0), Inventory{{PartitionId{0}, Epoch{3}}, {}});
  CHECK_FALSE(bench.agent->state().owner.reconciling());
}

}  // namespace
}  // namespace starling
