// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/forked_copies.h"

#include <doctest/doctest.h>

#include <set>

#include "interference/models.h"
#include "interference/pace/pace.h"
#include "policies/hadar/hadar.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

/// Five servers of a GPU each, none like another.
Topology unlike_servers() {
  GeneratorOptions options;
  options.groups = {{1, "A100"}, {1, "V100"}, {1, "P100"}, {1, "T4"}, {1, "K80"}};
  options.gpus_per_server = 1;
  return generate_flat(options).value();
}

Trace some_jobs(Rng rng, std::uint32_t count, bool copies) {
  const char* models[] = {"resnet50", "vgg16", "bert-base", "resnet18"};
  Trace trace;
  for (std::uint32_t i = 0; i < count; ++i) {
    TraceJob job;
    job.spec.id = JobId{1, i + 1};
    job.spec.model = models[rng.below(4)];
    job.spec.duration = from_seconds(3600 * (1 + 3 * rng.uniform()));
    job.spec.run.copies = copies;
    trace.jobs.push_back(job);
  }
  return trace;
}

struct FewJobs {
  double makespan_s = 0, used = 0;
};

FewJobs run(const Topology& topology, const char* policy, const Trace& trace,
            const SpeedModel& speed) {
  const PolicyRegistry registry = make_policy_registry();
  TestWorld::Options options;
  options.model = &speed;
  TestWorld world(topology, registry, policy, options);
  world.run(trace);
  const std::string fault = world.faults.empty() ? "" : world.faults.front();
  CHECK_MESSAGE(world.faults.empty(), fault);
  for (const TestWorld::Job& job : world.jobs) {
    REQUIRE(job.finished != kNever);
    CHECK(seconds(job.work) < 1e-6);  // all of it was done, no more and no less
  }
  return {world.makespan_s(), world.gpu_s / (topology.gpu_count() * world.makespan_s())};
}

TEST_CASE(
    "a forked job has a copy on every server that no other job wants, and their paces add up") {
  const Topology topology = unlike_servers();
  const auto speed = make_analytic_speed(topology);
  Trace trace = some_jobs(Rng(1), 1, true);
  trace.jobs[0].spec.model = "resnet50";
  const PolicyRegistry registry = make_policy_registry();
  TestWorld::Options options;
  options.model = speed.get();
  TestWorld world(topology, registry, "hadare", options);
  world.run(trace);
  CHECK(world.faults.empty());
  const Placement all = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}, GpuId{4}};
  const JobProfile profile = profile_of(trace.jobs[0].spec, 5);
  const double pace = speed->pace(profile, all, {}, {5, 0, 0, 0, true});
  double sum = 0;
  ForkedCopies copies(1);
  const Occupancy gpus(topology, {0, 5});
  const View view{topology, gpus, {}, {}, {}, *speed, Instant{}, AgentId{0}};
  for (std::uint32_t s = 0; s < 5; ++s)
    sum += copies.pace(view, trace.jobs[0].spec, ServerId{s}, 1);
  CHECK(pace == doctest::Approx(sum));
  CHECK(pace > 1.5);
  CHECK(world.jobs[0].starts == 1);
  CHECK(seconds(world.jobs[0].finished - Instant{}) ==
        doctest::Approx(seconds(trace.jobs[0].spec.duration) / pace).epsilon(1e-6));
}

TEST_CASE("jobs that may not be forked run as under hadar, to the last decision") {
  const Topology topology = unlike_servers();
  const auto speed = make_analytic_speed(topology);
  const PolicyRegistry registry = make_policy_registry();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Trace trace = some_jobs(Rng(seed), 9, false);
    TestWorld::Options options;
    options.model = speed.get();
    TestWorld hadar(topology, registry, "hadar", options);
    TestWorld hadare(topology, registry, "hadare", options);
    hadar.run(trace);
    hadare.run(trace);
    CHECK(hadar.hash.value() == hadare.hash.value());
    CHECK(hadar.makespan_s() == hadare.makespan_s());
  }
}

TEST_CASE("a copy keeps no job out: with a job for every server each has one") {
  const Topology topology = unlike_servers();
  const auto speed = make_analytic_speed(topology);
  const Occupancy gpus(topology, {0, 5});
  const Trace trace = some_jobs(Rng(3), 4, true);
  std::vector<JobView> waiting;
  for (const TraceJob& job : trace.jobs) {
    waiting.emplace_back();
    waiting.back().spec = &job.spec;
    waiting.back().order = waiting.size();
  }
  const View view{topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
  HadarOptions options;
  options.forks = true;
  HadarPolicy policy(options);
  Rng rng(1);
  const auto out = policy.decide(view, {TriggerKind::arrival}, rng);
  std::set<JobId> started;
  std::size_t copies = 0;
  for (const Decision& d : out) {
    const Start& start = std::get<Start>(d);
    started.insert(start.job);
    copies += start.placement.size();
    CHECK(start.allocation.averaged == (start.placement.size() > 1));
  }
  CHECK(started.size() == 4);
  CHECK(copies == 5);
}

TEST_CASE("few jobs on five unlike servers: what forking gains") {
  const Topology topology = unlike_servers();
  const auto speed = make_analytic_speed(topology);
  double time = 0, used = 0, hadar_used = 0;
  for (std::uint32_t jobs = 1; jobs <= 12; ++jobs) {
    double ratio = 0, use = 0, hadar_use = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Trace trace = some_jobs(Rng(seed, jobs), jobs, true);
      const FewJobs hadar = run(topology, "hadar", trace, *speed);
      const FewJobs hadare = run(topology, "hadare", trace, *speed);
      CHECK(hadare.makespan_s <= hadar.makespan_s);
      CHECK(hadare.used >= hadar.used - 1e-9);
      ratio += hadare.makespan_s / hadar.makespan_s / 5;
      use += hadare.used / 5, hadar_use += hadar.used / 5;
    }
    MESSAGE(jobs << " jobs: total duration x " << ratio << ", utilisation " << hadar_use << " -> "
                 << use);
    time += ratio / 12, used += use / 12, hadar_used += hadar_use / 12;
  }
  MESSAGE("mean of 1 to 12 jobs: total duration x " << time << ", utilisation x "
                                                    << used / hadar_used);
  CHECK(used / hadar_used >= 1.2);
  CHECK(time <= 0.8);
}

}  // namespace
}  // namespace starling
