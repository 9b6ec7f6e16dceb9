// SPDX-License-Identifier: Apache-2.0
#include "sim/check/durable.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "sim/check/growth.h"
#include "sim/world/world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

// A core that leaves something out of its memory, or has more there than it may: each is seen by
// comparing it with the journal, or with its limits, as the checker reads them.

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Two agents with gangs over both partitions, some waiting, some over, and one that is drained.
struct Busy {
  Busy() {
    trace.name = "busy";
    for (std::uint32_t i = 0; i < 8; ++i) {
      TraceJob job;
      job.spec.id = trace_job_id(i);
      job.spec.workers = i < 2 ? 1 : 12;
      job.spec.duration = i == 0 ? 5s : 600s;
      trace.jobs.push_back(job);
    }
    SimOptions options;
    options.policy = "fifo:queue=skip";
    options.agents = 2;
    options.servers_per_executor = 1;
    options.check = true;
    options.network = NetworkModel::lan();
    world = std::move(World::make(topology, trace, policies, options)).value();
    world->at(Instant(20s), [](World& w) { w.drain(ServerId{3}, true); });
    while (world->step_until(Instant(30s)).value()) {
    }
    for (std::uint32_t a = 0; a < 2; ++a) {
      if (world->agent(AgentId{a})->state().owner.shares.size() > 0) home = a;
    }
  }
  Durable journal(NodeId node, std::optional<AgentId> me = std::nullopt) {
    Durable journal(me);
    const auto records = world->disk(node).recover();
    for (const Record& record : records.value()) CHECK(journal.apply(record) == "");
    return journal;
  }
  AgentState agent() const { return world->agent(AgentId{home})->state(); }
  Topology topology = generate_flat({.servers = 4, .gpus_per_server = 4}).value();
  Trace trace;
  PolicyRegistry policies = make_policy_registry();
  std::unique_ptr<World> world;
  std::uint32_t home = 0;
};

TEST_CASE("an agent's memory is its journal") {
  Busy b;
  const Durable journal = b.journal(agent_node(AgentId{b.home}), AgentId{b.home});
  AgentState state = b.agent();
  REQUIRE(journal.differs(state) == "");
  REQUIRE_FALSE(state.home.jobs.empty());
  REQUIRE_FALSE(state.owner.shares.empty());
  const auto running =
      std::find_if(state.home.jobs.begin(), state.home.jobs.end(),
                   [](const auto& job) { return job.second.stage() == Stage::running; });
  SUBCASE("a job is gone") { state.home.jobs.erase(state.home.jobs.begin()); }
  SUBCASE("a job is new") {
    state.home.jobs.emplace(trace_job_id(99), Job{state.home.jobs.begin()->second});
  }
  SUBCASE("a job has had more service") { state.home.jobs.begin()->second.served += 1s; }
  SUBCASE("a job has had more attempts") { ++state.home.jobs.begin()->second.attempts; }
  SUBCASE("a job has another client") { ++state.home.jobs.begin()->second.client.value; }
  SUBCASE("a job came another way") { ++state.home.jobs.begin()->second.forwards; }
  SUBCASE("a job stands elsewhere") { state.home.jobs.begin()->second.doing = Job::Offered{}; }
  SUBCASE("a job has another attempt") {
    REQUIRE(running != state.home.jobs.end());
    ++running->second.attempt()->id.number;
  }
  SUBCASE("a job has a smaller gang") {
    REQUIRE(running != state.home.jobs.end());
    running->second.attempt()->parts.pop_back();
  }
  SUBCASE("a job has ended") { state.home.remembered.ended.emplace(trace_job_id(98), JobState{}); }
  SUBCASE("a job has moved") { state.home.remembered.moved.emplace(trace_job_id(98), Moved{}); }
  SUBCASE("a share is gone") { state.owner.shares.erase(state.owner.shares.begin()); }
  SUBCASE("a share has no GPUs") { state.owner.ledger.forget(state.owner.shares.begin()->first); }
  SUBCASE("a share has another home") { ++state.owner.shares.begin()->second.home.value; }
  SUBCASE("a share is new") {
    state.owner.shares[AttemptId{trace_job_id(97), Epoch{1}, 1}].durable = true;
  }
  SUBCASE("an attempt is over") {
    state.owner.ledger.tombstones().add({trace_job_id(97), Epoch{1}, 1}, {0s, Instant{}, true});
  }
  SUBCASE("an epoch is higher") { ++state.flock.peers[1 - b.home].epoch.value; }
  SUBCASE("a server is drained") { state.owner.ledger.set_drained(ServerId{2 * b.home}, true); }
  SUBCASE("an operator's word is new") { state.owner.drain_versions[ServerId{2 * b.home}] = 77; }
  CHECK(journal.differs(state) != "");
}

TEST_CASE("an executor's memory is its journal") {
  Busy b;
  std::uint32_t e = 0;
  while (b.world->executor(e)->state().runs.empty()) ++e;
  const Durable journal = b.journal(executor_node(e));
  ExecutorState state = b.world->executor(e)->state();
  REQUIRE(journal.differs(state) == "");
  Run& run = state.runs.begin()->second;
  SUBCASE("an attempt is gone") { state.runs.clear(); }
  SUBCASE("an attempt has other GPUs") { run.launch.here.pop_back(); }
  SUBCASE("an attempt has ended") { run.phase = Run::Phase::exited; }
  SUBCASE("an attempt is new") { state.runs[AttemptId{trace_job_id(97), Epoch{1}, 1}] = run; }
  SUBCASE("an attempt is over") {
    state.forgotten.add({trace_job_id(97), Epoch{1}, 1}, {0s, Instant{}, true});
  }
  SUBCASE("the epoch is higher") { ++state.epoch.value; }
  CHECK(journal.differs(state) != "");
}

TEST_CASE("S11: memory grows beyond a limit, also where the core does not look") {
  Busy b;
  AgentState state = b.agent();
  REQUIRE(outgrown(state) == "");
  SUBCASE("probes") { state.flock.probes.resize(100'000); }
  SUBCASE("jobs") { state.config.limits.jobs_waiting = 0; }
  SUBCASE("jobs remembered") { state.config.limits.jobs_remembered = 0; }
  SUBCASE("words of operators") {
    for (std::uint32_t i = 0; i < 100; ++i) state.owner.drain_versions[ServerId{i}] = 1;
  }
  SUBCASE("words to itself") { state.loop.emplace_back(Ping{}); }
  SUBCASE("last words") {
    state.home.jobs.begin()->second.doing.emplace<Job::Run>().exit.log_tail.resize(1'000'000);
  }
  SUBCASE("questions") { state.owner.shares.begin()->second.asked.resize(1000); }
  CHECK(outgrown(state) != "");
}

TEST_CASE("S11: an executor's memory grows beyond a limit") {
  Busy b;
  ExecutorState state = b.world->executor(0)->state();
  REQUIRE(outgrown(state) == "");
  SUBCASE("pings") { state.pinged.resize(1000); }
  SUBCASE("bad GPUs") {
    for (std::uint32_t g = 0; g < 1000; ++g) state.sick[GpuId{g}] = kNever;
  }
  SUBCASE("resends") {
    for (std::uint32_t i = 0; i < 100; ++i) {
      Instant held = kNever;
      state.resends.move(AttemptId{trace_job_id(i), Epoch{1}, 1}, held, Instant{});
    }
  }
  CHECK(outgrown(state) != "");
}

/// What stops the world, before that instant; empty: nothing.
std::string trouble(World& world, Instant until) {
  for (;;) {
    const Result<bool> more = world.step_until(until);
    if (!more.ok()) return more.error().message;
    if (!more.value()) return {};
  }
}

TEST_CASE("S11: a world looks at what its agents and its executors have in memory") {
  Busy b;
  SUBCASE("agents") {
    const_cast<AgentState&>(b.world->agent(AgentId{0})->state()).flock.probes.resize(100'000);
  }
  SUBCASE("executors") {
    for (std::uint32_t e = 0; e < 4; ++e)
      const_cast<ExecutorState&>(b.world->executor(e)->state()).pinged.resize(100'000);
  }
  CHECK(trouble(*b.world, Instant(1000s)).find("S11") != std::string::npos);
}

TEST_CASE("S15: what a node has in memory alone is seen when it crashes") {
  Busy b;
  SUBCASE("an agent") {
    const_cast<AgentState&>(b.world->agent(AgentId{0})->state()).flock.peers[1].epoch = Epoch{99};
    b.world->crash_agent(AgentId{0});
  }
  SUBCASE("an executor") {
    const_cast<ExecutorState&>(b.world->executor(0)->state()).epoch = Epoch{99};
    b.world->crash_executor(0);
  }
  CHECK(trouble(*b.world, Instant(1000s)).find("S15") != std::string::npos);
}

}  // namespace
}  // namespace starling
