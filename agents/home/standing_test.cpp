// SPDX-License-Identifier: Apache-2.0
// What jobs wait for beside GPUs: in every life of their home, and whatever is cut off.
#include <doctest/doctest.h>

#include "agents/home/scripted_home_test.h"
#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobSpec small_job(std::uint64_t n, Duration duration = 5s) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.duration = duration;
  return spec;
}

JobSpec waits_for(std::uint64_t n, After::How how, std::uint64_t other) {
  JobSpec spec = small_job(n);
  spec.terms.after = {{how, JobId{0, other}}};
  return spec;
}

JobState told_of(const TestFlock& flock, std::uint64_t n, std::uint32_t a = 0) {
  const AgentState& s = flock.agent(a);
  const JobId id{0, n};
  if (const auto over = s.home.remembered.ended.find(id); over != s.home.remembered.ended.end())
    return over->second;
  const auto known = s.home.jobs.find(id);
  return known == s.home.jobs.end() ? JobState{} : full_state_of(s, known->second, s.now);
}

bool explains(TestFlock& flock, std::uint64_t n, const std::string& words) {
  AgentState& s = const_cast<AgentState&>(flock.agent(0));
  for (const std::string& line : explain(s, JobId{0, n}, s.now)) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

/// Its next life begins: none, from its journal, from a snapshot.
void live_again(TestFlock& flock, int how) {
  if (how == 0) return;
  flock.crash_agent(0);
  flock.restart_agent(0, how == 2);
  flock.run_for(5s);
}

TEST_CASE("a held job starts once it is released, in whichever life of its home") {
  for (const int life : {0, 1, 2}) {
    CAPTURE(life);
    TestFlock flock({.servers = 1, .lossy = true});
    flock.run_for(1s);
    JobSpec held = small_job(1);
    held.terms.hold = true;
    flock.submit(held, 0);
    flock.run_for(20s);
    CHECK(told_of(flock, 1).phase == JobPhase::waiting);
    CHECK(std::string(state_name(told_of(flock, 1))) == "held");
    CHECK(explains(flock, 1, "it is held"));
    live_again(flock, life);
    flock.run_for(10s);
    CHECK(flock.launches() == 0);
    flock.ask(0, ChangeJob{held.id, JobChange::release});
    flock.run_for(2s);
    CHECK(told_of(flock, 1).phase == JobPhase::running);
    CHECK(told_of(flock, 1).reason == JobReason::none);
    CHECK(flock.settle(1min));
    CHECK(flock.phase(1) == JobPhase::finished);
  }
}

TEST_CASE("a job that waits can be held, and stays so over lives") {
  for (const int life : {0, 1, 2}) {
    CAPTURE(life);
    TestFlock flock({.servers = 1, .lossy = true});
    flock.run_for(1s);
    flock.submit(1, 4, 20s);
    flock.submit(2, 4, 5s);
    flock.run_for(2s);
    flock.ask(0, ChangeJob{JobId{0, 2}, JobChange::hold});
    flock.run_for(1s);
    live_again(flock, life);
    flock.run_for(1min);
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(told_of(flock, 2).reason == JobReason::held);
    flock.ask(0, ChangeJob{JobId{0, 2}, JobChange::hold});  // a repeat
    flock.ask(0, ChangeJob{JobId{0, 2}, JobChange::release});
    CHECK(flock.settle(1min));
    CHECK(flock.phase(2) == JobPhase::finished);
  }
}

TEST_CASE("what runs is not held, but requeued; a repeat stops no later attempt") {
  TestFlock flock({.servers = 1, .lossy = true});
  flock.run_for(1s);
  flock.submit(1, 4, 100s);
  flock.run_for(5s);
  const JobState first = told_of(flock, 1);
  REQUIRE(first.phase == JobPhase::running);
  flock.ask(0, ChangeJob{first.job, JobChange::hold});
  flock.run_for(1s);
  CHECK(told_of(flock, 1).phase == JobPhase::running);
  const ChangeJob again{first.job, JobChange::requeue, first.attempt_epoch, first.attempt_number};
  flock.ask(0, again);
  flock.run_for(5s);
  CHECK(told_of(flock, 1).phase == JobPhase::running);
  CHECK(told_of(flock, 1).attempts == 2);
  CHECK(told_of(flock, 1).preemptions == 0);
  flock.ask(0, again);
  flock.run_for(5s);
  CHECK(told_of(flock, 1).attempts == 2);
  const JobState second = told_of(flock, 1);
  flock.ask(0, ChangeJob{first.job, JobChange::requeue_hold, second.attempt_epoch,
                         second.attempt_number});
  flock.run_for(30s);
  CHECK(std::string(state_name(told_of(flock, 1))) == "held");
  CHECK(flock.processes() == 0);
  flock.ask(0, ChangeJob{first.job, JobChange::release});
  CHECK(flock.settle(5min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(told_of(flock, 1).attempts == 3);
}

TEST_CASE("a job begins at its time, also in the next life") {
  for (const int life : {0, 1, 2}) {
    CAPTURE(life);
    TestFlock flock({.servers = 1, .lossy = true});
    flock.run_for(1s);
    JobSpec later = small_job(1);
    later.terms.begin = 60s;
    flock.submit(later, 0);
    flock.run_for(20s);
    CHECK(told_of(flock, 1).reason == JobReason::begin);
    CHECK(told_of(flock, 1).until <= 41s);
    CHECK(told_of(flock, 1).until >= 38s);
    live_again(flock, life);
    flock.run_for(35s - (life == 0 ? 0s : 5s));
    CHECK(flock.launches() == 0);
    CHECK(flock.settle(2min));
    CHECK(flock.phase(1) == JobPhase::finished);
  }
}

TEST_CASE("a job that fails is tried again, with pauses that double, and then has failed") {
  for (const int life : {0, 1, 2}) {
    CAPTURE(life);
    TestFlock flock({.servers = 1, .lossy = true});
    flock.date_agent(0, 50 * 365 * 24h);
    flock.crash_agent(0);
    flock.restart_agent(0);
    flock.run_for(1s);
    JobSpec fails = small_job(1);
    fails.terms.retries = 2;
    fails.terms.retry_after = 20s;
    flock.set_exit_code(1, 3);
    flock.submit(fails, 0);
    flock.run_for(10s);
    CHECK(told_of(flock, 1).phase == JobPhase::waiting);
    CHECK(told_of(flock, 1).reason == JobReason::retry);
    CHECK(told_of(flock, 1).failures == 1);
    CHECK(told_of(flock, 1).exit.code == 3);
    CHECK(explains(flock, 1, "has failed 1 time, last with exit code 3; 2 retries in all"));
    flock.run_for(20s);
    CHECK(flock.launches() == 2);
    if (life > 0) {
      flock.crash_agent(0);
      flock.run_for(1s);
      flock.restart_agent(0, life == 2);
    }
    flock.run_for(20s);
    CHECK(told_of(flock, 1).failures == 2);
    CHECK(flock.settle(5min));
    const JobState over = told_of(flock, 1);
    CHECK(over.phase == JobPhase::failed);
    CHECK(over.exit.code == 3);
    CHECK(over.failures == 2);
    CHECK(flock.launches() == 3);
  }
}

TEST_CASE("a job starts after others as it was to, of its own home and of another") {
  struct Row {
    After::How how;
    int code;
    bool starts;
  };
  const Row rows[] = {{After::How::ok, 0, true},     {After::How::ok, 1, false},
                      {After::How::not_ok, 1, true}, {After::How::not_ok, 0, false},
                      {After::How::any, 1, true},    {After::How::any, 0, true}};
  for (const std::uint32_t other_home : {0U, 1U}) {
    for (const Row& row : rows) {
      CAPTURE(other_home);
      CAPTURE(static_cast<int>(row.how));
      CAPTURE(row.code);
      TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
      flock.run_for(1s);
      flock.set_exit_code(2, row.code);
      flock.submit(waits_for(1, row.how, 2), 0);
      flock.run_for(10s);
      CHECK(explains(flock, 1, "no agent that answers knows"));
      flock.submit(small_job(2, 30s), other_home);
      flock.run_for(20s);
      CHECK(told_of(flock, 1).reason == JobReason::dependency);
      CHECK(explains(flock, 1, "it is to start after"));
      CHECK(flock.launches() == 1);
      CHECK(flock.settle(2min));
      CHECK(flock.launches() == (row.starts ? 2 : 1));
      const JobState over = told_of(flock, 1);
      CHECK(over.phase == (row.starts ? JobPhase::finished : JobPhase::failed));
      if (row.starts) continue;
      CHECK(over.reason == JobReason::dependency_never);
      CHECK(over.exit.log_tail.find("DependencyNeverSatisfied") == 0);
    }
  }
}

TEST_CASE("how a job ended that is in the archive of either home is found there") {
  for (const std::uint32_t other_home : {0U, 1U}) {
    for (const int code : {0, 1}) {
      CAPTURE(other_home);
      CAPTURE(code);
      Limits limits;
      limits.archive_chunk_bytes = 300;
      TestFlock flock({.agents = 2, .servers = 2, .lossy = true, .limits = limits});
      flock.run_for(1s);
      flock.set_exit_code(2, code);
      for (std::uint64_t n = 2; n <= 20; ++n) flock.submit(small_job(n, 1s), other_home);
      REQUIRE(flock.settle(5min));
      REQUIRE(flock.agent(other_home).home.remembered.archive.contains(JobId{0, 2}));
      flock.submit(waits_for(1, After::How::ok, 2), 0);
      flock.run_for(1min);
      CHECK(flock.settle(1min));
      CHECK(flock.launches() == (code == 0 ? 20 : 19));
    }
  }
}

TEST_CASE("a chain of jobs goes one after the other, over crashes of their home") {
  TestFlock flock({.servers = 1, .lossy = true});
  flock.run_for(1s);
  for (std::uint64_t n = 1; n <= 5; ++n)
    flock.submit(n == 1 ? small_job(1) : waits_for(n, After::How::ok, n - 1), 0);
  for (int i = 0; i < 5; ++i) {
    flock.run_for(4s);
    flock.crash_agent(0);
    flock.restart_agent(0, i % 2 == 0);
    CHECK(flock.processes() <= 1);
  }
  CHECK(flock.settle(5min));
  for (std::uint64_t n = 1; n <= 5; ++n) CHECK(told_of(flock, n).phase == JobPhase::finished);
  CHECK(flock.launches() == 5);
}

TEST_CASE("a failure at the head of a long chain ends all of it") {
  TestFlock flock({.servers = 1, .lossy = true});
  flock.run_for(1s);
  flock.set_exit_code(1, 9);
  constexpr std::uint64_t kLength = 500;
  for (std::uint64_t n = 1; n <= kLength; ++n)
    flock.submit(n == 1 ? small_job(1) : waits_for(n, After::How::ok, n - 1), 0);
  CHECK(flock.settle(5min));
  CHECK(told_of(flock, kLength).reason == JobReason::dependency_never);
  CHECK(flock.launches() == 1);
}

TEST_CASE("while the other's home is cut off a job waits, and starts once it is heard again") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(1s);
  flock.submit(small_job(2, 20s), 1);
  flock.submit(waits_for(1, After::How::any, 2), 0);
  flock.run_for(5s);
  flock.cut_off(agent_node(AgentId{0}), agent_node(AgentId{1}));
  flock.run_for(60s);
  CHECK(flock.phase(2) == JobPhase::finished);
  CHECK(told_of(flock, 1).reason == JobReason::dependency);
  CHECK(flock.launches() == 1);
  flock.heal();
  CHECK(flock.settle(1min));
  CHECK(flock.phase(1) == JobPhase::finished);
}

TEST_CASE("who is named itself as the home of another job, which has gone on, asks all again") {
  ScriptedHome home(3);
  home.submit(1, waits_for(1, After::How::any, 9));
  const int asked = home.count<Query>(AgentId{2});
  CHECK(asked > 0);
  JobState moved;
  moved.job = JobId{0, 9};
  moved.phase = JobPhase::moved;
  moved.home = AgentId{0};
  home.hear(AgentId{1}, moved);
  for (int i = 0; i < 100; ++i) home.tick(1s);
  CHECK(home.count<Query>(AgentId{2}) > asked);
}

TEST_CASE("of an array as many tasks run at once as may, and never more") {
  for (const int life : {0, 1, 2}) {
    CAPTURE(life);
    TestFlock flock({.agents = 2, .servers = 8, .lossy = true});
    flock.run_for(1s);
    constexpr std::uint32_t kTasks = 12;
    for (std::uint32_t task = 0; task < kTasks; ++task) {
      JobSpec spec = small_job(10 + task, 10s);
      spec.terms.array = JobId{0, 5};
      spec.terms.task = task, spec.terms.tasks = kTasks, spec.terms.last_task = kTasks - 1;
      spec.terms.at_once = 3;
      flock.submit(spec, 0);
    }
    std::size_t most = 0;
    for (int i = 0; i < 80; ++i) {
      flock.run_for(1s);
      most = std::max(most, flock.processes());
      if (i == 15 && life > 0) {
        flock.crash_agent(0);
        flock.restart_agent(0, life == 2);
      }
      if (i == 5) {
        CHECK(told_of(flock, 20).reason == JobReason::array_limit);
        flock.ask(0, ChangeJob{JobId{0, 21}, JobChange::hold});
      }
      if (i == 60) flock.ask(0, ChangeJob{JobId{0, 21}, JobChange::release});
    }
    CHECK(most == 3);
    CHECK(flock.settle(2min));
    CHECK(flock.launches() == kTasks);
    CHECK(flock.agent(0).home.arrays.empty());
  }
}

TEST_CASE("a user who does not own a job changes nothing of it") {
  TestFlock flock({.servers = 1, .lossy = true});
  flock.run_for(1s);
  JobSpec spec = small_job(1);
  spec.user = "ann";
  spec.as_user = true;
  spec.terms.hold = true;
  flock.inject(0, client_node(0), Submit{spec, client_node(0)}, Asker{"ann", false});
  flock.run_for(1s);
  flock.inject(0, client_node(1), ChangeJob{spec.id, JobChange::release}, Asker{"ben", false});
  flock.run_for(5s);
  CHECK(told_of(flock, 1).reason == JobReason::held);
  flock.inject(0, client_node(1), ChangeJob{spec.id, JobChange::release}, Asker{"ann", false});
  CHECK(flock.settle(1min));
}

}  // namespace
}  // namespace starling
