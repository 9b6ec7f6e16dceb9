// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "agents/step/state.h"
#include "sim/chaos/chaos.h"
#include "sim/test_registry.h"
#include "sim/world/world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

// What policies have learned survives the death of their agents: each test states that the
// decisions go on as if none had died, and what is lost where the memory is.

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology data_center() {
  GeneratorOptions options;
  options.servers = 6;
  options.gpus_per_server = 4;
  options.gpu_type = "V100";
  options.cpus = 48;
  return generate_flat(options).value();
}

/// Users who submit work of a length that is their own, more than there is room for; some of it
/// elastic. No two things happen at one instant. With `slack` times as long between them.
Trace crowd(std::uint32_t jobs, bool elastic, int slack = 1) {
  Rng rng(11);
  Trace trace;
  trace.name = "crowd";
  Duration at{0};
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TraceJob job;
    at += slack * std::chrono::milliseconds(30'000 + 1 + rng.below(120'000));
    job.submit = at;
    job.spec.id = trace_job_id(i);
    const std::uint32_t user = rng.below(6);
    job.spec.user = "user" + std::to_string(user);
    job.spec.workers = 1U << rng.below(4);
    job.spec.duration = std::chrono::milliseconds(1000 * (60U << user) + 1 + 2 * rng.below(20'000));
    if (elastic && rng.chance(0.5))
      job.spec.min_workers = 1, job.spec.max_workers = 2 * job.spec.workers;
    trace.jobs.push_back(job);
  }
  return trace;
}

enum class Kept { all, nothing, garbage };

/// When it is killed: at those times or, where `idle`, at up to three minutes at which no job
/// waits.
struct Kills {
  std::vector<Duration> at;
  bool idle = false;
};

/// When each job started and ended, and where.
std::vector<std::string> run(const std::string& policy, const Kills& kills, Kept kept,
                             DurationKnowledge::Kind knows) {
  const Topology topology = data_center();
  const Trace trace =
      crowd(140, policy.starts_with("optimus") || policy.starts_with("dl2"), kills.idle ? 2 : 1);
  SimOptions options;
  options.policy = policy;
  options.durations.kind = knows;
  auto made = World::make(topology, trace, registry(), options);
  REQUIRE(made.ok());
  World& world = *made.value();
  int killed = 0;
  const auto kill = [&](World& w) {
    ++killed;
    if (kept == Kept::nothing) w.policy_memory(AgentId{0}).clear();
    if (kept == Kept::garbage)
      for (std::byte& byte : w.policy_memory(AgentId{0})) byte ^= std::byte{0x55};
    REQUIRE(w.restart_agent(AgentId{0}).ok());
  };
  for (const Duration at : kills.at) {
    world.at(Instant(at), [&, idle = kills.idle](World& w) {
      if (!idle || (killed < 3 && w.agent(AgentId{0})->state().home.waiting_jobs() == 0)) kill(w);
    });
  }
  REQUIRE(world.run().ok());
  CHECK(killed == (kills.at.empty() ? 0 : 3));
  if (kept == Kept::garbage) CHECK(world.memories_left_behind() > 0);
  if (kept == Kept::all) CHECK(world.memories_left_behind() == 0);
  std::vector<std::string> jobs;
  for (const JobRow& row : world.result().jobs) {
    CHECK(row.state == JobPhase::finished);
    jobs.push_back(row.name + " " + std::to_string(row.start_s) + " " +
                   std::to_string(row.finish_s) + " " + row.placement);
  }
  return jobs;
}

Kills while_idle() {
  Kills kills;
  kills.idle = true;
  for (int i = 0; i < 300; ++i) kills.at.push_back(10'800s + i * 60s + 7ms);
  return kills;
}

void goes_on(const std::string& policy, DurationKnowledge::Kind knows,
             const Kills& kills = {{3601s + 7ms, 7205s + 11ms, 9111s + 3ms}}) {
  CAPTURE(policy);
  const auto alive = run(policy, {{}, kills.idle}, Kept::all, knows);
  const auto killed = run(policy, kills, Kept::all, knows);
  std::size_t same = 0;
  for (std::size_t i = 0; i < alive.size(); ++i) {
    if (alive[i] == killed[i]) {
      ++same;
    } else if (same == i) {
      MESSAGE("first difference: " << alive[i] << " / " << killed[i]);
    }
  }
  CHECK(same == alive.size());
  // Without what was learned they decide otherwise, so the above is no accident; nothing is lost.
  CHECK(run(policy, kills, Kept::nothing, knows) != alive);
  CHECK(run(policy, kills, Kept::garbage, knows) != alive);
}

TEST_CASE("Tiresias' history of service outlives its agent") {
  // A waiting job keeps the index that it had when it began to wait, and in a new life that of
  // then.
  goes_on("tiresias-gittins", DurationKnowledge::none, while_idle());
}

TEST_CASE("the forecast of how long jobs take outlives its agent") {
  goes_on("lif:threshold=0.3,order=forecast", DurationKnowledge::none);
}

TEST_CASE("Gavel's accounts outlive its agent") { goes_on("gavel", DurationKnowledge::none); }

TEST_CASE("what elastic jobs have done, and the round, outlive their agent") {
  goes_on("optimus:horizon=0", DurationKnowledge::exact);
  goes_on("dl2:round=600", DurationKnowledge::exact);
}

TEST_CASE("what a net has learned outlives its agent") {
  const Topology topology = data_center();
  const Trace trace = crowd(140, true);
  SimOptions options;
  options.policy = "dl2:learn=yes,round=60";  // slots enough for a batch before all is full
  auto world = World::make(topology, trace, registry(), options).value();
  std::vector<std::byte> first, before, after;
  const auto keep = [](std::vector<std::byte>& to) {
    return [&to](World& w) { to = w.policy_memory(AgentId{0}); };
  };
  world->at(Instant(907s + 7ms), keep(first));
  world->at(Instant(3001s + 7ms), [&](World& w) {
    before = w.policy_memory(AgentId{0});
    REQUIRE(w.restart_agent(AgentId{0}).ok());
  });
  world->at(Instant(3002s + 7ms), keep(after));
  REQUIRE(world->run().ok());
  CHECK(world->memories_left_behind() == 0);
  // Both nets are what it ends with, before a checksum; of what a fresh one keeps they are all but
  // the first words.
  const std::size_t bytes = registry().make(options.policy).value()->save(Instant{}).size() - 64;
  REQUIRE(bytes > 20'000);
  const auto nets = [bytes](const std::vector<std::byte>& memory) {
    REQUIRE(memory.size() > bytes + 8);
    const auto end = memory.end() - 8;
    return std::vector<std::byte>(end - static_cast<std::ptrdiff_t>(bytes), end);
  };
  CHECK(nets(first) != nets(before));
  CHECK(nets(before) == nets(after));
  for (const JobRow& row : world->result().jobs) CHECK(row.state == JobPhase::finished);
}

TEST_CASE("a successor on another host begins with it, and the deposed owner spoils nothing") {
  const Topology topology = data_center();
  const Trace trace = crowd(140, false);
  const auto run = [&](bool dies) {
    SimOptions options;
    options.policy = "gavel";
    options.durations.kind = DurationKnowledge::none;
    auto world = World::make(topology, trace, registry(), options).value();
    std::vector<std::byte> before;
    if (dies) {
      world->at(Instant(7205s + 11ms), [&](World& w) {
        before = w.policy_memory(AgentId{0});
        REQUIRE(w.take_over(AgentId{0}, 600s).ok());
      });
    }
    REQUIRE(world->run().ok());
    CHECK(world->memories_left_behind() == 0);
    if (dies) CHECK_FALSE(before.empty());
    std::vector<double> ends;
    for (const JobRow& row : world->result().jobs) ends.push_back(row.finish_s);
    return ends;
  };
  CHECK(run(false) == run(true));
}

TEST_CASE("a memory that cannot be read costs quality alone") {
  ChaosOptions options;
  options.only = {"F34-memory", "F1-agent", "F23"};
  options.faults_last = 4min;
  options.twice_every = 5;
  for (const char* policy :
       {"tiresias-gittins", "gavel", "optimus:knows=measured", "lif:order=forecast"}) {
    CAPTURE(policy);
    options.policy = policy;
    options.seeds = 5;
    const ChaosReport report = run_chaos(registry(), options).value();
    for (const ChaosFailure& failure : report.first)
      MESSAGE(failure.seed << " " << failure.rule << " " << failure.message);
    CHECK(report.failures == 0);
    CHECK(report.faults.at("F34-memory") > 0);
    CHECK(report.finished > 0);
  }
}

}  // namespace
}  // namespace starling
