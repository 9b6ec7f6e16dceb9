// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "agents/step/state.h"
#include "sim/simulate.h"
#include "sim/test_registry.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

// Whole clusters in one thread, with the checker looking at every event. Each test states a promise
// of the system, not of one part.

namespace starling {
namespace {

using namespace std::chrono_literals;

Topology cluster(std::uint32_t servers) {
  return generate_leaf_spine({.servers = servers, .servers_per_rack = 4}).value();
}

/// Gangs of 1 to `largest` GPUs, minutes long, arriving faster than they leave.
Trace crowd(std::uint32_t jobs, std::uint32_t largest, std::uint64_t seed = 7) {
  Rng rng(seed);
  Trace trace;
  trace.name = "crowd";
  Duration at{0};
  for (std::uint32_t i = 0; i < jobs; ++i) {
    TraceJob job;
    at += std::chrono::milliseconds(rng.below(20'000));
    job.submit = at;
    job.spec.id = trace_job_id(i);
    job.spec.name = "j" + std::to_string(i);
    job.spec.gpus_per_worker = 1;
    job.spec.workers = std::min(largest, 1U << rng.below(6));
    job.spec.duration = std::chrono::seconds(30 + rng.below(600));
    trace.jobs.push_back(job);
  }
  return trace;
}
TraceJob job(std::uint32_t i, Duration submit, std::uint32_t gpus, Duration duration) {
  TraceJob one;
  one.submit = submit;
  one.spec.id = trace_job_id(i);
  one.spec.workers = gpus;
  one.spec.duration = duration;
  return one;
}

NetworkModel rough() {
  NetworkModel model = NetworkModel::lan();
  model.delay = 5ms;
  model.loss = 0.05;
  model.duplication = 0.05;
  model.reorder = 0.05;
  return model;
}
SimOptions checked(std::uint32_t agents, const char* policy = "fifo:queue=skip") {
  SimOptions options;
  options.policy = policy;
  options.agents = agents;
  options.servers_per_executor = 2;
  options.check = true;
  return options;
}
RunResult run(const Topology& topology, const Trace& trace, const SimOptions& options) {
  Result<RunResult> result = simulate(topology, trace, registry(), options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return std::move(result).value();
}

TEST_CASE("a job starts after one that its home, or another, has put into its archive") {
  for (const std::uint32_t agents : {1U, 2U}) {
    CAPTURE(agents);
    Trace trace;
    for (std::uint32_t i = 0; i < 30; ++i) trace.jobs.push_back(job(i, 0s, 1, 10s));
    for (std::uint32_t i = 30; i < 34; ++i) {
      trace.jobs.push_back(job(i, 1h, 1, 10s));
      trace.jobs.back().spec.terms.after = {{After::How::ok, trace_job_id(i - 30)}};
    }
    SimOptions options = checked(agents);
    options.network = NetworkModel::lan();
    options.limits.archive_chunk_bytes = 300;
    const RunResult result = run(cluster(4), trace, options);
    CHECK(figures(result).finished == 34);
  }
}

TEST_CASE("same seed, same run, with any number of agents") {
  const Topology topology = cluster(12);
  const Trace trace = crowd(150, 32);
  for (const std::uint32_t agents : {1U, 3U, 8U}) {
    CAPTURE(agents);
    SimOptions options = checked(agents);
    options.check = false;
    const RunResult once = run(topology, trace, options);
    CHECK(once.trace_hash == run(topology, trace, options).trace_hash);
    CHECK(once.messages > 0);
    options.network = rough();
    const std::uint64_t lossy = run(topology, trace, options).trace_hash;
    CHECK(lossy == run(topology, trace, options).trace_hash);
    options.seed = 2;
    CHECK(lossy != run(topology, trace, options).trace_hash);
  }
}

TEST_CASE("every job of a crowd ends, and the checker finds nothing") {
  const Topology topology = cluster(12);
  const Trace trace = crowd(200, 32);
  for (const std::uint32_t agents : {1U, 3U, 8U}) {
    for (const bool is_rough : {false, true}) {
      CAPTURE(agents);
      CAPTURE(is_rough);
      SimOptions options = checked(agents);
      if (is_rough) options.network = rough();
      const RunFigures f = figures(run(topology, trace, options));
      CHECK(f.finished == 200);
      CHECK(f.avg_jct_s >= f.floor_jct_s);
      CHECK(f.gpu_utilization <= 1);
    }
  }
}

TEST_CASE("a gang larger than any partition spans several and runs") {
  const Topology topology = cluster(8);
  Trace trace;
  trace.jobs = {job(0, 0s, 40, 100s), job(1, 10s, 64, 50s), job(2, 20s, 1, 5s)};
  for (const bool is_rough : {false, true}) {
    CAPTURE(is_rough);
    SimOptions options = checked(4);
    if (is_rough) options.network = rough();
    const RunResult result = run(topology, trace, options);
    CHECK(figures(result).finished == 3);
    CHECK(result.cross_partition_gangs >= 2);
    CHECK(result.jobs[1].service_s == 50);
  }
}

TEST_CASE("the shortest remaining time goes first, and no job loses what it had done") {
  const Topology topology = cluster(1);
  Trace trace;
  trace.jobs = {job(0, 0s, 8, 1000s), job(1, 100s, 8, 10s)};
  const RunResult result = run(topology, trace, checked(1, "srtf"));
  CHECK(result.preemptions == 1);
  CHECK(result.jobs[1].finish_s == 110);
  CHECK(result.jobs[0].finish_s == 1010);
  CHECK(result.jobs[0].service_s == 1000);
  CHECK(result.jobs[0].attempts == 2);
}

TEST_CASE("jobs of unknown length do not stop each other") {
  const Topology topology = cluster(1);
  Trace trace;
  trace.jobs = {job(0, 0s, 8, 1000s), job(1, 100s, 8, 10s)};
  SimOptions options = checked(1, "srtf");
  options.network = NetworkModel::lan();
  options.durations = {DurationKnowledge::none, 0};
  const RunResult result = run(topology, trace, options);
  CHECK(result.preemptions == 0);
  CHECK(figures(result).finished == 2);
}

TEST_CASE("what users know of durations changes decisions, not the jobs") {
  const Topology topology = cluster(1);
  Trace trace;
  for (std::uint32_t i = 0; i < 30; ++i)
    trace.jobs.push_back(job(i, 0s, 8, Duration(100s) + i * 10s));
  std::reverse(trace.jobs.begin(), trace.jobs.end());
  SimOptions options = checked(1, "sjf");
  const RunFigures exact = figures(run(topology, trace, options));
  options.durations = {DurationKnowledge::noisy, 2.0};
  const RunFigures noisy = figures(run(topology, trace, options));
  options.durations = {DurationKnowledge::none, 0};
  const RunFigures none = figures(run(topology, trace, options));
  CHECK(exact.floor_jct_s == noisy.floor_jct_s);
  CHECK(exact.makespan_s == none.makespan_s);
  CHECK(exact.avg_jct_s < noisy.avg_jct_s);
  CHECK(noisy.avg_jct_s < none.avg_jct_s);  // longest first
}

TEST_CASE("full physics slows a gang that is spread, and starting takes time") {
  const Topology topology = cluster(2);
  Trace trace;
  trace.jobs = {job(0, 0s, 4, 5000s), job(1, 10s, 8, 1000s)};
  for (TraceJob& one : trace.jobs) one.spec.model = "vgg16";
  const auto jct = [&](const char* policy) {
    SimOptions options = checked(1, policy);
    options.physics = PhysicsKind::full;
    options.network = NetworkModel::lan();
    const RunResult result = run(topology, trace, options);
    CHECK(figures(result).finished == 2);
    CHECK(result.jobs[1].service_s == doctest::Approx(1000));
    return result.jobs[1].finish_s - result.jobs[1].submit_s;
  };
  const double together = jct("fifo:fit=server");
  const double spread = jct("fifo:fit=count");
  CHECK(together > 1000);
  CHECK(spread > together * 1.02);
}

TEST_CASE("stragglers make a gang slower, the same gang always by the same") {
  const Topology topology = cluster(1);
  Trace trace;
  trace.jobs = {job(0, 0s, 8, 1000s)};
  const auto jct = [&](const char* physics) {
    SimOptions options = checked(1);
    const PhysicsChoice choice = parse_physics(physics).value();
    options.physics = choice.kind;
    options.straggler_sigma = choice.straggler_sigma;
    return figures(run(topology, trace, options)).avg_jct_s;
  };
  CHECK(jct("full:stragglers=0.1") > 1.05 * jct("full"));
  CHECK(jct("full:stragglers=0.1") == jct("full:stragglers=0.1"));
  CHECK(jct("full:stragglers=0") == jct("full"));
  CHECK(text_of(parse_physics("full:stragglers=0.25").value()) == "full:stragglers=0.25");
  CHECK(text_of(parse_physics("measured").value()) == "measured");
  CHECK(text_of(parse_physics("full:goodput").value()) == "full:goodput");
  CHECK(text_of(parse_physics("full:goodput,stragglers=1").value()) == "full:stragglers=1,goodput");
  for (const char* wrong : {"", "fast", "full:", "measured:", "full:stragglers=x",
                            "full:stragglers=-1", "full:stragglers=nan"}) {
    CHECK_FALSE(parse_physics(wrong).ok());
  }
}

TEST_CASE("a network that only delays costs no heartbeats") {
  const Topology topology = cluster(4);
  const Trace trace = crowd(60, 8);
  SimOptions options = checked(2);
  options.network = NetworkModel::lan();
  const RunResult result = run(topology, trace, options);
  CHECK(figures(result).finished == 60);
  CHECK(result.messages < 60 * 60);
}

TEST_CASE("an agent that crashes in mid-run goes on from its journal, whatever the instant") {
  const Topology topology = cluster(8);
  const Trace trace = crowd(120, 16);
  for (std::uint32_t round = 0; round < 6; ++round) {
    CAPTURE(round);
    SimOptions options = checked(3);
    options.seed = round + 1;
    options.network = round % 2 == 0 ? NetworkModel::lan() : rough();
    auto world = World::make(topology, trace, registry(), options).value();
    for (std::uint32_t i = 0; i < 4; ++i) {
      const Instant when{100s + i * 150s + round * 17ms};
      world->at(when, [i](World& w) { w.crash_agent(AgentId{i % 3}); });
      world->at(when + 3s * (i + 1), [i](World& w) { (void)w.restart_agent(AgentId{i % 3}); });
    }
    const Status ran = world->run();
    REQUIRE_MESSAGE(ran.ok(), ran.error().message);
    const RunResult result = world->result();
    CHECK(figures(result).finished == 120);
    for (const JobRow& row : result.jobs) CHECK(row.service_s == doctest::Approx(row.duration_s));
  }
}

TEST_CASE("an executor that crashes finds its processes again") {
  const Topology topology = cluster(4);
  const Trace trace = crowd(60, 8);
  SimOptions options = checked(2);
  options.network = NetworkModel::lan();
  auto world = World::make(topology, trace, registry(), options).value();
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Instant when{60s + i * 90s};
    world->at(when, [i](World& w) { w.crash_executor(i % 2); });
    world->at(when + 20s, [i](World& w) { (void)w.restart_executor(i % 2); });
  }
  const Status ran = world->run();
  REQUIRE_MESSAGE(ran.ok(), ran.error().message);
  CHECK(figures(world->result()).finished == 60);
}

TEST_CASE("a checker that looks at a broken world ends the run with the rule") {
  const Topology topology = cluster(1);
  Trace trace;
  trace.jobs = {job(0, 0s, 4, 100s)};
  auto world = World::make(topology, trace, registry(), checked(1)).value();
  world->at(Instant(50s), [](World& w) {
    // A process that no agent ordered, on a GPU in use.
    LaunchSpec spec;
    spec.attempt = {trace_job_id(0), Epoch{1}, 999};
    spec.gpus = {GpuId{0}};
    spec.gang = {{PartitionId{0}, spec.gpus}};
    (void)w.hardware().start(0, spec);
  });
  const Status ran = world->run();
  REQUIRE_FALSE(ran.ok());
  CHECK(ran.error().message.find("S1") != std::string::npos);
  CHECK(ran.error().message.find("50.0") != std::string::npos);
}

TEST_CASE("where nothing gets lost a home takes the whole trace, and no client knocks twice") {
  const Topology topology = cluster(4);
  const Trace trace = crowd(100, 32);
  SimOptions options;
  const std::uint64_t whole = run(topology, trace, options).trace_hash;
  options.limits.jobs_waiting = 5;
  CHECK(run(topology, trace, options).trace_hash == whole);
}

TEST_CASE("a home that takes five jobs at a time gets to the end of a trace that takes hours") {
  const Topology topology = cluster(4);
  const Trace trace = crowd(100, 32);
  SimOptions options;
  options.limits.jobs_waiting = 5;
  options.network = rough();
  CHECK(figures(run(topology, trace, options)).finished == 100);
}

TEST_CASE("bad options are refused with a reason") {
  const Topology topology = cluster(2);
  SimOptions options;
  options.policy = "fofi";
  CHECK(simulate(topology, {}, registry(), options).error().code == Errc::not_found);
  options.policy = "fifo";
  options.agents = 3;
  CHECK(simulate(topology, {}, registry(), options).error().code == Errc::invalid);
}

TEST_CASE("a partition taken over from a living owner: the old one can do nothing that lasts") {
  const Topology t = cluster(8);
  const Trace trace = crowd(150, 16);
  for (const char* policy : {"fifo:queue=skip", "srtf"}) {
    SimOptions options;
    options.policy = policy;
    options.agents = 4;
    options.network = rough();
    options.check = true;
    auto world = World::make(t, trace, registry(), options).value();
    for (int i = 1; i <= 20; ++i) {
      const AgentId agent{static_cast<std::uint32_t>(i % 4)};
      world->at(Instant(i * 61s), [agent, i](World& w) {
        if (i % 3 == 0) w.crash_agent(agent);
        (void)w.take_over(agent, i % 2 == 0 ? 100s : 3s);
      });
    }
    const Status ran = world->run();
    REQUIRE_MESSAGE(ran.ok(), (ran.ok() ? "" : ran.error().message));
    CHECK(world->users().counts().finished == trace.jobs.size());
    CHECK(world->agent(AgentId{1})->state().config.epoch == Epoch{6});
  }
}

TEST_CASE("an old owner that reaches the authority ends at its next renewal") {
  const Topology t = cluster(8);
  const Trace trace = crowd(20, 16);
  SimOptions options;
  options.policy = "srtf";
  options.agents = 4;
  options.network = rough();
  options.check = true;
  const Duration beat = options.timers.heartbeat;
  const auto until = [](World& world, Instant when) {
    for (bool more = true; more;) {
      const Result<bool> step = world.step_until(when);
      REQUIRE_MESSAGE(step.ok(), (step.ok() ? "" : step.error().message));
      more = step.value();
    }
  };
  for (const double rate : {1.0, 0.5}) {
    auto world = World::make(t, trace, registry(), options).value();
    const AgentId agent{1};
    world->set_rate(agent_node(agent), rate);
    world->at(Instant(60s), [&](World& w) {
      w.lapse(agent, 0s);  // it says nothing, so it writes nothing that could be refused
      REQUIRE(w.take_over(agent, 24h).ok());
    });
    world->at(Instant(1h), [](World& w) { w.refuse_deposed(); });
    until(*world, Instant(1h + from_seconds(0.9 * seconds(beat) / rate)));
    CHECK(world->any_deposed(agent));
    until(*world, Instant(1h + from_seconds(1.1 * seconds(beat) / rate)));
    CHECK_FALSE(world->any_deposed(agent));
    CHECK(world->agent(agent)->state().config.epoch == Epoch{2});
  }
}

}  // namespace
}  // namespace starling
