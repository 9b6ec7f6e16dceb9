// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/hadar.h"

#include <doctest/doctest.h>

#include <set>

#include "base/test_data.h"
#include "interference/models.h"
#include "policies/gavel/test_gavel_world.h"
#include "policies/testing/test_world.h"
#include "scheduling/feedback.h"
#include "topology/generate/generate.h"
#include "workload/requirements.h"

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

/// A view of two servers of four V100s, where the first job runs on `now` and the others wait.
struct TwoServers {
  TwoServers(std::vector<TraceJob> all, const Placement& now, const Allocation& how = {})
      : jobs(std::move(all)) {
    running[0].spec = &jobs[0].spec;
    running[0].placement = now;
    running[0].allocation = how;
    gpus.take(now, demand_of(jobs[0].spec));
    for (std::size_t i = 1; i < jobs.size(); ++i) {
      waiting.emplace_back();
      waiting.back().spec = &jobs[i].spec;
      waiting.back().order = i;
    }
  }
  static Topology make() {
    GeneratorOptions options;
    options.groups = {{2, "V100"}};
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
  [[nodiscard]] View view() const {
    return {topology, gpus, waiting, running, {}, *speed, Instant{}, AgentId{0}};
  }

  std::vector<TraceJob> jobs;
  Topology topology = make();
  std::unique_ptr<SpeedModel> speed = make_analytic_speed(topology);
  Occupancy gpus{topology, {0, 2}};
  std::vector<JobView> running{1}, waiting;
};

/// Where a restart is dear, the running job stays, and the GPUs of all that start are other ones.
void check_first_round(const TwoServers& world, const Placement& now, std::size_t starts) {
  HadarOptions options;
  options.restart_s = 80'000;
  HadarPolicy policy(options);
  Rng rng(1);
  const std::vector<Decision> out = policy.decide(world.view(), {TriggerKind::arrival}, rng);
  std::set<GpuId> taken(now.begin(), now.end());
  std::size_t started = 0;
  for (const Decision& d : out) {
    REQUIRE(std::holds_alternative<Start>(d));
    ++started;
    for (const GpuId gpu : std::get<Start>(d).placement) CHECK(taken.insert(gpu).second);
  }
  CHECK(started == starts);
}

TEST_CASE("a job that stays has the very GPUs that it has, though a worker of it is cut in two") {
  std::vector<TraceJob> jobs = {rigid(1, 0, 2, 60)};
  jobs[0].spec.gpus_per_worker = 2;
  for (std::uint64_t id = 2; id <= 7; ++id) jobs.push_back(rigid(id, 0, 1, 6000));
  const Placement now = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{4}};
  const TwoServers world(jobs, now);
  check_first_round(world, now, 4);
}

TEST_CASE("a worker that has room to be whole is not cut in two") {
  std::vector<TraceJob> jobs = {rigid(1, 0, 4, 60), rigid(2, 0, 2, 6000)};
  jobs[1].spec.gpus_per_worker = 2;
  const Placement now = {GpuId{0}, GpuId{4}, GpuId{5}, GpuId{6}};
  const TwoServers world(jobs, now);
  check_first_round(world, now, 0);
}

TEST_CASE("copies that hadare started go on whole under hadar, which has none itself") {
  std::vector<TraceJob> jobs = {rigid(1, 0, 2, 60)};
  jobs[0].spec.run.copies = true;
  for (std::uint64_t id = 2; id <= 7; ++id) jobs.push_back(rigid(id, 0, 1, 6000));
  const Placement now = {GpuId{0}, GpuId{1}, GpuId{4}, GpuId{5}};
  const TwoServers world(jobs, now, {4, 0, 0, 0, true});
  check_first_round(world, now, 4);
}

TEST_CASE("a gang that lies over two servers, its worker in two, is no two copies") {
  std::vector<TraceJob> jobs = {rigid(1, 0, 2, 60'000)};
  jobs[0].spec.gpus_per_worker = 2;
  jobs[0].spec.run.copies = true;
  TwoServers world(jobs, {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{4}});
  world.gpus.take(Placement{GpuId{5}, GpuId{6}, GpuId{7}});
  HadarOptions options;
  options.forks = true;
  HadarPolicy policy(options);
  Rng rng(1);
  const auto out = policy.decide(world.view(), {TriggerKind::arrival}, rng);
  REQUIRE(out.size() == 1);
  CHECK(std::holds_alternative<Preempt>(out[0]));  // to one server
  CHECK(policy.explain(JobId{1, 1}).at(0).find("copies") == std::string::npos);
}

TEST_CASE("a job whose copies the core refuses runs without them") {
  const Topology topology = one_gpu_servers({{2, "V100"}});
  const auto speed = make_analytic_speed(topology);
  const Occupancy gpus(topology, {0, 2});
  TraceJob job = rigid(1, 0, 1, 600);
  job.spec.run.copies = true;
  std::vector<JobView> waiting(1);
  waiting[0].spec = &job.spec;
  const View view{topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
  HadarOptions options;
  options.forks = true;
  HadarPolicy policy(options);
  Rng rng(1);
  const auto copies = policy.decide(view, {TriggerKind::arrival}, rng);
  REQUIRE(copies.size() == 1);
  CHECK(std::get<Start>(copies[0]).allocation.averaged);
  policy.refused({copies[0], DecisionFault::wrong_size});
  const View later{topology, gpus, waiting, {}, {}, *speed, Instant{} + options.round, AgentId{0}};
  const auto one = policy.decide(later, {TriggerKind::round}, rng);
  REQUIRE(one.size() == 1);
  CHECK(std::get<Start>(one[0]).allocation.as_asked());
  CHECK(std::get<Start>(one[0]).placement.size() == 1);
}

TEST_CASE("the most jobs that a round asks is of all, the most urgent first") {
  GeneratorOptions one;
  one.groups = {{1, "V100"}};
  one.gpus_per_server = HadarPolicy::kMostPriced + 1;
  const Topology topology = generate_flat(one).value();
  const auto speed = make_analytic_speed(topology);
  const Occupancy gpus(topology, {0, 1});
  std::vector<TraceJob> jobs;
  for (std::size_t i = 0; i <= HadarPolicy::kMostPriced; ++i) {
    jobs.push_back(rigid(i + 1, 0, 1, 6000));
    jobs.back().spec.cpus_per_worker = 0;
    jobs.back().spec.priority = i == 0 ? 0 : 1;
  }
  std::vector<JobView> waiting(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    waiting[i].spec = &jobs[i].spec, waiting[i].order = i;
  const View view{topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
  HadarPolicy policy({});
  Rng rng(1);
  (void)policy.decide(view, {TriggerKind::arrival}, rng);
  CHECK(policy.explain(JobId{1, 2}).at(0).find("payoff ") == 0);
  CHECK(policy.explain(JobId{1, 1}).at(0).find("no GPUs") == 0);  // it gets what is left
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
  // An order with short jobs first ends the longest one later; its own utility is for that.
  CHECK(jct.second <= 1.06 * gavel.second);
  CHECK(makespan.second <= gavel.second);
}

}  // namespace
}  // namespace starling
