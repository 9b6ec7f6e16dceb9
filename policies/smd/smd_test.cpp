// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "interference/models.h"
#include "policies/elastic/elastic_jobs_test.h"
#include "policies/testing/test_world.h"
#include "workload/requirements.h"

namespace starling {
namespace {

TraceJob served(std::uint64_t id, double submit, std::uint32_t workers, double duration) {
  TraceJob job;
  job.submit = from_seconds(submit);
  job.spec.id = JobId{1, id};
  job.spec.model = "vgg16";
  job.spec.workers = workers;
  job.spec.cpus_per_worker = 1;
  job.spec.run.max_servers = 16;
  job.spec.run.server_cpus = 1;
  job.spec.duration = from_seconds(duration);
  return job;
}

/// What smd decides at once for the jobs.
std::vector<Decision> first_round(const std::string& policy, const Topology& topology,
                                  const std::vector<TraceJob>& jobs,
                                  std::vector<std::string>* why = nullptr) {
  const PolicyRegistry registry = make_policy_registry();
  const auto made = registry.make(policy).value();
  const Occupancy gpus(topology, {0, topology.server_count()});
  const auto speed = make_analytic_speed(topology);
  std::vector<JobView> waiting;
  for (const TraceJob& job : jobs) {
    JobView view;
    view.spec = &job.spec;
    view.submitted = Instant{} + job.submit;
    view.order = waiting.size() + 1;
    waiting.push_back(view);
  }
  const View view{topology, gpus, waiting, {}, {}, *speed, Instant{}, AgentId{0}};
  Rng rng(1);
  auto out = made->decide(view, {TriggerKind::arrival}, rng);
  if (why != nullptr) {
    for (const TraceJob& job : jobs) {
      for (const std::string& line : made->explain(job.spec.id)) why->push_back(line);
    }
  }
  return out;
}

TEST_CASE("the parameter servers of a job are those that its layers want, within its limit") {
  const Topology topology = servers(2);
  std::vector<std::string> why;
  const auto out = first_round("smd:limit=most", topology, {served(1, 0, 4, 3600)}, &why);
  REQUIRE(out.size() == 1);
  const Start& start = std::get<Start>(out.front());
  CHECK(start.placement.size() == 4);
  // Its limit is 4 CPUs of workers and as many servers as workers.
  CHECK(start.allocation.servers <= 4);
  REQUIRE(why.size() == 1);
  CHECK(why[0].find("in the knapsack with 4 workers and") == 0);
}

TEST_CASE("the knapsack takes the jobs that together end soonest") {
  const Topology topology = servers(1);
  // The large one would leave nothing for two small ones that are shorter.
  const auto out = first_round(
      "smd", topology, {served(1, 0, 8, 8000), served(2, 0, 4, 1000), served(3, 0, 4, 1000)});
  REQUIRE(out.size() == 2);
  CHECK(std::get<Start>(out[0]).job != JobId{1, 1});
  CHECK(std::get<Start>(out[1]).job != JobId{1, 1});
}

TEST_CASE("a job that keeps its workers keeps its parameter servers, and the knapsack knows it") {
  const Topology topology = servers(1);
  const auto policy = make_policy_registry().make("smd:limit=most,restart=0").value();
  const auto speed = make_analytic_speed(topology);
  const TraceJob job = served(1, 0, 4, 3600);
  std::vector<std::string> anew;
  (void)first_round("smd:limit=most", topology, {job}, &anew);
  REQUIRE(anew.at(0).find("and 1 parameter server:") == std::string::npos);
  std::vector<JobView> running(1);
  running[0].spec = &job.spec;
  for (std::uint32_t g = 0; g < 4; ++g) running[0].placement.push_back(GpuId{g});
  running[0].allocation = {4, 1, 0, 0, false};
  Occupancy gpus(topology, {0, 1});
  gpus.take(running[0].placement, demand_of(job.spec));
  const View view{topology, gpus, {}, running, {}, *speed, Instant{}, AgentId{0}};
  Rng rng(1);
  CHECK(policy->decide(view, {TriggerKind::round}, rng).empty());
  CHECK(policy->explain(job.spec.id).at(0).find("with 4 workers and 1 parameter server:") !=
        std::string::npos);
}

TEST_CASE("with a menu a job is smaller where that lets another one in") {
  const Topology topology = servers(1);
  std::vector<TraceJob> jobs = {elastic(1, 0, 8, 5000), elastic(2, 0, 8, 5000)};
  for (TraceJob& job : jobs) job.spec.model = "resnet50";
  std::size_t gpus = 0;
  const auto out = first_round("smd:menu=yes", topology, jobs);
  REQUIRE(out.size() == 2);
  for (const Decision& d : out) gpus += std::get<Start>(d).placement.size();
  CHECK(gpus <= 8);
}

TEST_CASE("every job ends, whatever is chosen, with one agent and with four") {
  const Topology topology = servers(8);
  const auto speed = make_analytic_speed(topology);
  const PolicyRegistry registry = make_policy_registry();
  Rng rng(5);
  Trace trace;
  double at = 0;
  for (std::uint32_t i = 0; i < 80; ++i) {
    at += 120 * rng.exponential();
    TraceJob job = rng.chance(0.5) ? served(i + 1, at, 1 + rng.below(8), 600 + 3000 * rng.uniform())
                                   : elastic(i + 1, at, 4, 600 + 3000 * rng.uniform());
    if (job.spec.run.max_servers > 0 && rng.chance(0.5))
      job.spec.min_workers = 1, job.spec.max_workers = 2 * job.spec.workers;
    trace.jobs.push_back(std::move(job));
  }
  for (const char* policy :
       {"drf", "optimus:servers=free", "smd", "smd:menu=yes", "smd:limit=most"}) {
    for (const std::uint32_t agents : {1U, 4U}) {
      CAPTURE(policy);
      CAPTURE(agents);
      TestWorld::Options options;
      options.agents = agents;
      options.model = speed.get();
      TestWorld world(topology, registry, policy, options);
      world.run(trace);
      CHECK(world.faults.empty());
      for (const TestWorld::Job& job : world.jobs) CHECK(job.finished != kNever);
      MESSAGE(std::string(policy) << " x" << agents << ": mean JCT " << world.mean_jct_s() << " s, "
                                  << world.decide_s / static_cast<double>(world.calls) * 1e6
                                  << " us a call");
    }
  }
}

}  // namespace
}  // namespace starling
