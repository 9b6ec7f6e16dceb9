// SPDX-License-Identifier: Apache-2.0
// A home answers every submit, once and for all, and every accepted job ends exactly once.
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/home/scripted_home_test.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::size_t count(const std::vector<std::string>& lines, const std::string& what) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& l) { return l.find(what) != l.npos; }));
}

JobSpec spec(std::uint64_t n, std::uint32_t gpus, Duration duration = 10s) {
  JobSpec s;
  s.id = JobId{0, n};
  s.workers = gpus;
  s.duration = duration;
  return s;
}

TEST_CASE("a job runs for its time and ends once; the write before the launch is one") {
  TestFlock flock({});
  flock.submit(1, 4, 60s);
  CHECK(flock.settle(5min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.now() == Instant{} + 60s);
  CHECK(flock.faults().empty());
  const JobState& state = flock.agent(0).home.remembered.ended.at(JobId{0, 1});
  CHECK(state.served == 60s);
  CHECK(state.queued == 0s);
  CHECK(state.attempts == 1);
  CHECK(state.placement.size() == 4);
  // LifeBegan, JobAccepted, JobPast, AttemptStarting, ShareCommitted, JobPast, JobEnded
  CHECK(flock.journal(0).size() == 7);
}

TEST_CASE("a gang over several executors of one partition starts and ends as one") {
  TestFlock flock({.servers = 4});
  flock.submit(1, 16, 60s);
  flock.submit(2, 16, 60s);
  flock.run_for(1s);
  CHECK(flock.processes() == 4);
  CHECK(flock.settle(5min));
  CHECK(flock.now() == Instant{} + 120s);
  CHECK(flock.faults().empty());
}

TEST_CASE("submitting twice is submitting once, also after the end") {
  TestFlock flock({});
  flock.ask(0, Submit{spec(1, 2), {}});
  flock.ask(0, Submit{spec(1, 2), {}});
  flock.run_for(60s);
  flock.ask(0, Submit{spec(1, 2), {}});
  flock.run_for(60s);
  const auto lines = flock.take_transcript();
  CHECK(count(lines, "-> client 1  Accepted") == 2);
  CHECK(count(lines, "-> client 1  JobState job 1 finished") == 2);
  CHECK(flock.launches() == 1);
}

TEST_CASE("a job that can never fit is refused with the reason") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.submit(1, 9, 10s);
  JobSpec wide = spec(2, 2);
  wide.gpus_per_worker = 5;
  wide.workers = 1;  // a single worker may be spread
  flock.submit(wide, 0);
  wide.id = JobId{0, 3};
  wide.workers = 2;
  flock.submit(wide, 0);
  JobSpec typed = spec(4, 1);
  typed.gpu_types = {"H100"};
  flock.submit(typed, 0);
  flock.run_for(1s);
  const auto reason = [&](std::uint64_t n) { return flock.client().find(JobId{0, n})->reason; };
  CHECK(reason(1) == "needs 9 GPUs; the data centre has 8");
  CHECK(reason(2).empty());
  CHECK(reason(3) == "needs 10 GPUs; the data centre has 8");
  CHECK(reason(4) == "needs 1 GPU of type H100; the data centre has 0");
  JobSpec bad = spec(5, 0);
  flock.submit(bad, 0);
  flock.run_for(1s);
  CHECK(reason(5).find("workers is 0") != std::string::npos);
}

TEST_CASE("an accepted job that has become too large waits, says so, and is not refused") {
  Submit large{spec(1, 5), client_node(0)};
  const std::vector<Record> before{JobAccepted{large, 1}};
  ScriptedHome home(1, {}, before);
  home.hear(client_node(0), large);
  CHECK(home.last<Accepted>() != nullptr);
  CHECK(home.last<Rejected>() == nullptr);
  home.hear(client_node(0), Explain{large.spec.id});
  const auto* why = home.last<Explanation>();
  REQUIRE(why != nullptr);
  const auto is = [](const std::string& line) {
    return line == "can run nowhere as the servers are now: needs 5 GPUs; the data centre has 4";
  };
  CHECK(std::any_of(why->lines.begin(), why->lines.end(), is));
  CHECK(home.job(1).stage() == Stage::waiting);
}

TEST_CASE("cancelling works wherever the job stands") {
  TestFlock flock({.servers = 1});
  flock.submit(1, 4, 0s);
  flock.submit(2, 4, 0s);
  flock.run_for(1s);
  flock.cancel(2);
  flock.run_for(1s);
  CHECK(flock.phase(2) == JobPhase::cancelled);
  CHECK(flock.processes() == 1);
  flock.cancel(1);
  flock.run_for(1s);
  CHECK(flock.phase(1) == JobPhase::cancelled);
  CHECK(flock.settled());
  flock.ask(0, Cancel{JobId{0, 1}});
  flock.ask(0, Cancel{JobId{0, 77}});
  flock.run_for(1s);
  const auto lines = flock.take_transcript();
  CHECK(count(lines, "-> client 1  JobState job 1 cancelled") == 1);
  CHECK(count(lines, "-> client 1  JobState job 77 unknown") == 1);
}

TEST_CASE("a failing process fails its job; a dead machine only costs an attempt") {
  TestFlock flock({.servers = 2});
  flock.set_exit_code(1, 3);
  flock.submit(1, 8, 10s);
  flock.submit(2, 4, 30s);
  flock.run_for(15s);
  CHECK(flock.phase(1) == JobPhase::failed);
  CHECK(flock.client().find(JobId{0, 1})->state.exit.code == 3);
  REQUIRE(flock.phase(2) == JobPhase::running);
  flock.crash_executor(0);
  flock.run_for(1s);
  flock.restart_executor(0);
  CHECK(flock.settle(10min));
  CHECK(flock.phase(2) == JobPhase::finished);
  CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 2}).attempts == 2);
  CHECK(flock.faults().empty());
}

TEST_CASE("a full home says Busy, remembers no more than it may, and loses no job") {
  FlockOptions options;
  options.servers = 1;
  options.limits.jobs_waiting = 3;
  options.limits.jobs_remembered = 5;
  TestFlock flock(options);
  for (std::uint64_t n = 1; n <= 20; ++n) flock.submit(n, 4, 10s);
  flock.run_for(5s);
  CHECK(flock.agent(0).home.jobs.size() == 3);
  CHECK(flock.client().counts().busy > 0);
  CHECK(flock.settle(1h));
  CHECK(flock.client().counts().finished == 20);
  CHECK(flock.agent(0).home.remembered.ended.size() == 5);
}

TEST_CASE("lists come in pages of ascending ids, whatever became of the jobs") {
  TestFlock flock({.servers = 1});
  for (std::uint64_t n = 20; n >= 1; --n) flock.submit(n, 4, n % 2 != 0 ? 1s : 100s);
  flock.run_for(150s);
  const AgentState& s = flock.agent(0);
  CHECK(s.home.waiting_jobs() + s.home.running_jobs + s.home.remembered.ended.size() == 20);
  CHECK(s.home.waiting_gpus == 4 * s.home.waiting_jobs());
  flock.ask(0, ListJobs{JobId{0, 5}, 10});
  flock.ask(0, ListJobs{JobId{0, 15}, 10});
  (void)flock.take_transcript();
  flock.run_for(1s);
  const auto lines = flock.take_transcript();
  CHECK(count(lines, "JobList 6 7 8 9 10 11 12 13 14 15 and more") == 1);
  CHECK(count(lines, "JobList 16 17 18 19 20") == 1);
}

TEST_CASE("a page of a list fits into a frame, however large its jobs are") {
  TestFlock flock({.servers = 1, .gpus_per_server = 8192});
  for (std::uint64_t n = 1; n <= 40; ++n) flock.submit(n, 8192, 1s);
  CHECK(flock.settle(1h));
  flock.ask(0, ListJobs{JobId{0, 0}, 1000});
  (void)flock.take_transcript();
  flock.run_for(1s);
  const auto lines = flock.take_transcript();
  CHECK(count(lines, "JobList 1 2 3 4 5 6 7 8 ") == 1);
  CHECK(count(lines, " and more") == 1);
}

TEST_CASE("a job that runs is said to have had the service up to now") {
  ScriptedHome home;
  const JobId job = home.submit(1, 1);
  REQUIRE(home.decide(Start{job, {GpuId{0}}}));
  home.launched();
  home.tick(10s);
  home.hear(client_node(1), Query{job});
  REQUIRE(home.last<JobState>(client_node(1)) != nullptr);
  CHECK(home.last<JobState>(client_node(1))->served == 10s);
}

}  // namespace
}  // namespace starling
