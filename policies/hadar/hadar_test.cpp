// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/hadar.h"

#include <doctest/doctest.h>

#include "base/test_data.h"
#include "interference/models.h"
#include "policies/gavel/test_gavel_world.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TraceJob rigid(std::uint64_t id, double submit, std::uint32_t workers, double duration) {
  TraceJob job;
  job.submit = from_seconds(submit);
  job.spec.id = JobId{1, id};
  job.spec.model = "resnet50";
  job.spec.workers = workers;
  job.spec.duration = from_seconds(duration);
  return job;
}

Topology one_gpu_servers(std::vector<std::pair<std::uint32_t, std::string>> groups) {
  GeneratorOptions options;
  options.groups.clear();
  for (auto& [count, type] : groups) options.groups.push_back({count, type});
  options.gpus_per_server = 1;
  return generate_flat(options).value();
}

TEST_CASE("a gang of four starts on three V100s and a P100, at the pace of the P100") {
  const Topology topology = one_gpu_servers({{3, "V100"}, {1, "P100"}});
  const auto speed = make_analytic_speed(topology);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {rigid(1, 0, 4, 3600)};
  TestWorld::Options options;
  options.model = speed.get();
  const auto run = [&](const char* policy) {
    TestWorld world(topology, registry, policy, options);
    world.run(trace);
    CHECK(world.faults.empty());
    return world.jobs[0];
  };
  const TestWorld::Job mixed = run("hadar"), waits = run("gavel");
  CHECK(mixed.started == Instant{});
  const Placement all = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  const double pace = speed->speed(profile_of(trace.jobs[0].spec), all, {}).relative;
  CHECK(pace < 0.9);  // of four V100s
  CHECK(seconds(mixed.finished - mixed.started) == doctest::Approx(3600 / pace).epsilon(1e-6));
  CHECK(waits.started > Instant{});
}

TEST_CASE("gangs that nothing has changed for keep their GPUs, round after round") {
  const Topology topology = one_gpu_servers({{4, "V100"}, {4, "K80"}});
  const auto speed = make_analytic_speed(topology);
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  trace.jobs = {rigid(1, 0, 2, 40'000), rigid(2, 0, 2, 50'000), rigid(3, 0, 4, 90'000)};
  TestWorld::Options options;
  options.model = speed.get();
  for (const char* policy : {"hadar", "hadare", "hadar:utility=throughput"}) {
    CAPTURE(policy);
    TestWorld world(topology, registry, policy, options);
    world.run(trace);
    CHECK(world.faults.empty());
    CHECK(world.jobs[0].starts == 1);
    CHECK(world.jobs[1].starts == 1);
    CHECK(world.jobs[2].starts <= 3);  // it moves to the V100s that become free
    CHECK(world.preemptions <= 2);
  }
}

TEST_CASE("why a job got what it got is told") {
  const Topology topology = one_gpu_servers({{1, "V100"}});
  const auto speed = make_analytic_speed(topology);
  const Occupancy gpus(topology, {0, 1});
  const TraceJob shorter = rigid(1, 0, 1, 600), longer = rigid(2, 0, 1, 60'000);
  std::vector<JobView> waiting(2);
  waiting[0].spec = &longer.spec, waiting[0].order = 1;
  waiting[1].spec = &shorter.spec, waiting[1].order = 2;
  const View view{topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
  HadarPolicy policy({});
  Rng rng(1);
  const auto out = policy.decide(view, {TriggerKind::arrival}, rng);
  REQUIRE(out.size() == 1);
  CHECK(std::get<Start>(out[0]).job == shorter.spec.id);
  CHECK(policy.explain(shorter.spec.id).at(0).find("payoff ") == 0);
  CHECK(policy.explain(longer.spec.id).at(0).find("no GPUs") == 0);
  CHECK(policy.explain(JobId{9, 9}).empty());
}

TEST_CASE("what it remembers survives: the round goes on, and what is done is done") {
  const Topology topology = one_gpu_servers({{1, "V100"}});
  const auto speed = make_analytic_speed(topology);
  const Occupancy gpus(topology, {0, 1});
  const TraceJob job = rigid(1, 0, 1, 600);
  std::vector<JobView> waiting(1);
  waiting[0].spec = &job.spec;
  const View view{topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
  HadarPolicy first({}), second({});
  Rng rng(1);
  CHECK(first.decide(view, {TriggerKind::arrival}, rng).size() == 1);
  const auto bytes = first.save(Instant{});
  CHECK(second.restore(bytes, Instant{}).ok());
  CHECK(second.save(Instant{}) == bytes);
  CHECK(!second.restore(std::span(bytes).first(bytes.size() - 8), Instant{}).ok());
}

TEST_CASE("on Gavel's 96 jobs Hadar is not behind max-min fairness" *
          doctest::test_suite("published data")) {
  const auto isolated = test_data("gavel/isolated.csv");
  const auto trace_file = test_data("gavel/traces/max_min_fairness.csv");
  if (!isolated || !trace_file) return;
  const Topology topology = one_gpu_servers({{8, "V100"}, {16, "P100"}, {24, "K80"}});
  const GavelSpeed speed(*isolated, topology);
  const Trace trace = gavel_trace(*trace_file, speed);
  const PolicyRegistry registry = make_policy_registry();
  const auto run = [&](const char* policy) {
    TestWorld::Options options;
    options.model = &speed;
    options.round_length = [&](const TestWorld& w) { return gavel_round(w, speed); };
    TestWorld world(topology, registry, policy, options);
    world.run(trace);
    CHECK(world.faults.empty());
    MESSAGE(std::string(policy) << ": JCT " << world.mean_jct_s() << " s, makespan "
                                << world.makespan_s() << " s, " << world.preemptions
                                << " preemptions, "
                                << world.decide_s / static_cast<double>(world.calls) * 1e6
                                << " us a call");
    return std::pair(world.mean_jct_s(), world.makespan_s());
  };
  const auto gavel = run("gavel");
  const auto jct = run("hadar"), pace = run("hadar:utility=throughput");
  const auto makespan = run("hadar:utility=makespan");
  CHECK(jct.first <= gavel.first);
  CHECK(pace.first <= gavel.first);
  // Whoever runs short jobs first ends the longest one later; its own utility is for that.
  CHECK(jct.second <= 1.06 * gavel.second);
  CHECK(makespan.second <= gavel.second);
}

}  // namespace
}  // namespace starling
