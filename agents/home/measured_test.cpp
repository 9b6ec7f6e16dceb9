// SPDX-License-Identifier: Apache-2.0
// What a policy is shown of how jobs get on, and of those that are gone.
#include <doctest/doctest.h>

#include <chrono>

#include "agents/home/scripted_home_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const NodeId kExecutor = executor_node(0);

struct Running {
  Running() {
    JobSpec spec;
    spec.workers = 2;
    job = home.submit(1, spec);
    submitted = home.now;
    start();
  }
  void start() {
    REQUIRE(home.decide(Start{job, {GpuId{0}, GpuId{1}}}));
    home.launched();
    home.tick();
    attempt = home.job(1).attempt()->id;
  }
  void stop(Duration takes, Duration served) {
    REQUIRE(home.decide(Preempt{job}));
    home.tick(takes);
    home.hear(kExecutor, Killed{attempt, served});
    home.tick();
  }
  const JobView& shown() {
    home.ask_policy();
    const ScriptedHome::Seen& seen = home.script->seen;
    return seen.running_views.empty() ? seen.waiting_views.at(0) : seen.running_views.at(0);
  }

  ScriptedHome home;
  JobId job;
  AttemptId attempt;
  Instant submitted;
};

TEST_CASE("a policy is shown what executors measure of a job") {
  Running r;
  CHECK(r.shown().pace == 0);
  CHECK(r.shown().measured_at == kNever);
  r.home.tick(20s);
  r.home.hear(kExecutor, Progress{r.attempt, 10s, 0.5, 300, 64});
  const Instant told = r.home.now;
  const JobView view = r.shown();
  CHECK(view.done == 10s);
  CHECK(view.pace == 0.5);
  CHECK(view.measured_at == told);
  CHECK(view.noise_scale == 300);
  CHECK(view.batch == 64);
  CHECK(view.restarts == 0);
  CHECK(view.age(r.home.now) == r.home.now - r.submitted);
  // Another executor of its gang, which counts no steps, takes nothing of it back.
  r.home.tick(5s);
  r.home.hear(kExecutor, Progress{r.attempt, 9s, 0});
  CHECK(r.shown().done == 10s);
  CHECK(r.shown().pace == 0.5);
  CHECK(r.shown().noise_scale == 300);
}

TEST_CASE("what stopping and starting again takes is measured, and waiting is none of it") {
  Running r;
  r.home.tick(60s);
  r.home.hear(kExecutor, Progress{r.attempt, 50s, 1});
  CHECK(r.shown().restart_cost == 0s);  // a first start could not have been spared
  r.stop(4s, 60s);
  CHECK(r.shown().done == 60s);
  CHECK(r.shown().restart_cost == 4s);
  CHECK(r.shown().restarts == 0);
  r.home.tick(100s);
  r.start();
  CHECK(r.shown().restarts == 1);
  CHECK(r.shown().pace == 0);  // in this attempt
  r.home.tick(30s);
  r.home.hear(kExecutor, Progress{r.attempt, 10s, 0.5});
  // Ten seconds of work took twenty, so the other ten were its start.
  CHECK(r.shown().restart_cost == 14s);
  CHECK(r.shown().done == 70s);
  r.home.tick(10s);
  r.home.hear(kExecutor, Progress{r.attempt, 11s, 0.5});
  CHECK(r.shown().restart_cost == 14s);  // once for each attempt
}

TEST_CASE("a policy is shown once which jobs are gone, and how they went") {
  Running r;
  r.home.submit(2, 1);
  r.home.submit(3, 4);
  r.home.ask_policy();
  CHECK(r.home.script->seen.departed.empty());
  r.home.hear(client_node(0), Cancel{JobId{0, 2}});
  r.home.hear(kExecutor, Exited{r.attempt, {}, {}, 70s});
  r.home.tick();
  const auto gone = r.home.script->seen.departed;
  REQUIRE(gone.size() == 2);
  CHECK(gone[0].spec->id == JobId{0, 2});
  CHECK(gone[0].fate == JobFate::cancelled);
  CHECK(gone[1].spec->id == r.job);
  CHECK(gone[1].fate == JobFate::finished);
  CHECK(gone[1].served == 70s);
  r.home.ask_policy();
  CHECK(r.home.script->seen.departed.empty());
}

TEST_CASE("jobs that depart while no policy is asked are bounded") {
  HomeState home{PolicyFacts{}};
  Job job;
  job.spec = std::make_shared<const JobSpec>();
  for (std::size_t i = 0; i < 3 * HomeState::kMostDeparted; ++i)
    home.depart(job, JobFate::failed, Instant(std::chrono::seconds(i)));
  CHECK(home.departed.size() <= HomeState::kMostDeparted);
  CHECK(home.departed.back().at == Instant(std::chrono::seconds(3 * HomeState::kMostDeparted - 1)));
}

TEST_CASE("a job that runs when its home dies has served as long for the next life") {
  AgentConfig config;
  config.calendar = std::chrono::hours(1);
  ScriptedHome first(1, config);
  const JobId job = first.submit(1, 2);
  REQUIRE(first.decide(Start{job, {GpuId{0}, GpuId{1}}}));
  first.launched();
  first.tick(40s);
  AgentConfig next = config;
  next.calendar = *config.calendar + (first.now - Instant{});  // its clock begins anew
  next.incarnation = Incarnation{2};
  ScriptedHome second(1, next, first.journal);
  second.tick(5s);
  second.ask_policy();
  REQUIRE(second.script->seen.running_views.size() == 1);
  CHECK(second.script->seen.running_views[0].served == 45s);
}

TEST_CASE("elastic jobs teach the speed model what neighbours cost, and not what a size is worth") {
  ScriptedHome home;
  JobSpec spec;
  spec.workers = 2, spec.min_workers = 1, spec.max_workers = 4;
  const JobId job = home.submit(1, spec), other = home.submit(2, 1);
  const auto start = [&](JobId id, const Placement& gpus) {
    REQUIRE(home.decide(Start{id, gpus}));
    home.launched();
    return home.job(id.lo).attempt()->id;
  };
  const auto hear = [&](AttemptId attempt, double rate) {
    home.tick(60s);
    home.hear(kExecutor, Progress{attempt, 1s, rate});
  };
  const AttemptId resized = start(job, {GpuId{0}});
  hear(resized, 0.6);
  CHECK(home.taught.empty());
  start(other, {GpuId{1}});
  hear(resized, 0.45);
  REQUIRE(home.taught.size() == 1);
  CHECK(home.taught[0].relative == doctest::Approx(0.75));
  CHECK(home.taught[0].beside.size() == 1);
}

TEST_CASE("an elastic job of the size that it asks for teaches as any other") {
  ScriptedHome home;
  JobSpec spec;
  spec.workers = 2, spec.min_workers = 1, spec.max_workers = 4;
  const JobId job = home.submit(1, spec);
  REQUIRE(home.decide(Start{job, {GpuId{0}, GpuId{1}}}));
  home.launched();
  home.tick(60s);
  home.hear(kExecutor, Progress{home.job(1).attempt()->id, 1s, 0.9});
  REQUIRE(home.taught.size() == 1);
  CHECK(home.taught[0].relative == doctest::Approx(0.9));
}

}  // namespace
}  // namespace starling
