// SPDX-License-Identifier: Apache-2.0
// What is told of jobs that ran more than once: how long they have waited in all, and how the last
// attempt ended, none of the earlier ones.
#include <doctest/doctest.h>

#include "agents/exit_code.h"
#include "agents/explain/explain_ended.h"
#include "agents/home/scripted_home_test.h"
#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Its only server is drained for so long, and what runs there evicted.
void evict_for(TestFlock& flock, Duration d) {
  flock.ask(0, SetDrain{ServerId{0}, true, true});
  flock.run_for(d);
  flock.ask(0, SetDrain{ServerId{0}, false, false});
  flock.run_for(10s);
}

JobState told(const TestFlock& flock, std::uint64_t n) {
  const AgentState& s = flock.agent(0);
  return state_of(s, s.home.jobs.at(JobId{0, n}), s.now);
}

TEST_CASE("a job that was requeued twice has waited for all of that, over a restart of its home") {
  for (const int restart : {0, 1, 2}) {
    CAPTURE(restart);
    TestFlock flock({.servers = 1, .lossy = true});
    flock.run_for(1s);
    flock.submit(1, 4, 100s);
    flock.run_for(10s);
    REQUIRE(flock.phase(1) == JobPhase::running);
    CHECK(told(flock, 1).requeued == 0s);
    evict_for(flock, 50s);
    REQUIRE(flock.phase(1) == JobPhase::running);
    CHECK(told(flock, 1).requeued >= 45s);
    CHECK(told(flock, 1).requeued <= 52s);

    flock.ask(0, SetDrain{ServerId{0}, true, true});
    flock.run_for(30s);
    CHECK(flock.phase(1) == JobPhase::waiting);
    if (restart > 0) {
      flock.crash_agent(0);
      flock.run_for(40s);
      flock.restart_agent(0, restart == 2);
    } else {
      flock.run_for(40s);
    }
    flock.run_for(30s);
    CHECK(told(flock, 1).requeued >= 140s);
    flock.ask(0, SetDrain{ServerId{0}, false, false});
    REQUIRE(flock.settle(10min));
    const JobState& over = flock.agent(0).home.remembered.ended.at(JobId{0, 1});
    CHECK(over.phase == JobPhase::finished);
    CHECK(over.attempts == 3);
    CHECK(over.queued < 2s);  // until it first started
    CHECK(over.requeued >= 145s);
    CHECK(over.requeued <= 165s);
    CHECK(over.queued + over.requeued + over.served <= over.elapsed);
    CHECK(explain_ended(over).front().find("after waiting") != std::string::npos);
  }
}

/// Another home gives the job away, which has waited for 30 s to be started again.
JobId take_requeued(ScriptedHome& home) {
  JobSpec spec;
  spec.id = JobId{0, 1};
  home.hear(AgentId{1}, Submit{spec, client_node(0), 100s, 20s, 1, 2, 1, 5s, 30s});
  return spec.id;
}

TEST_CASE("a job has waited no longer than it is there, though its home's calendar has jumped") {
  AgentConfig config;
  config.calendar = Duration{0};
  ScriptedHome home(2, config);
  take_requeued(home);
  config.calendar = std::chrono::hours(24) * 365 * 100;
  ScriptedHome next(2, config, home.journal);
  next.tick(10s);
  const JobState state = state_of(next.state(), next.job(1), next.now);
  CHECK(state.requeued >= 30s);
  CHECK(state.requeued <= state.elapsed);
}

TEST_CASE("what a job has waited goes with it to its next home") {
  AgentConfig config;
  config.calendar = Duration{0};
  ScriptedHome home(2, config);
  const JobId id = take_requeued(home);
  home.tick(10s);
  CHECK(state_of(home.state(), home.job(1), home.now).requeued == 40s);
  REQUIRE(home.decide(Forward{id, AgentId{1}}));
  REQUIRE(home.last<Submit>() != nullptr);
  CHECK(home.last<Submit>()->requeued == 40s);

  JobSpec spec;
  spec.id = JobId{0, 2};
  home.hear(client_node(0), Submit{spec, client_node(0), 0s, 0s, 0, 0, 0, Duration{-1}, 30s});
  CHECK(state_of(home.state(), home.job(2), home.now).requeued == 0s);  // a client cannot say that
}

TEST_CASE("how a gang's earlier attempt ended is not told of its next one") {
  for (const int restart : {0, 1, 2}) {
    CAPTURE(restart);
    TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
    flock.run_for(2s);
    flock.submit(1, 8, 0s);
    flock.run_for(5s);
    REQUIRE(flock.phase(1) == JobPhase::running);
    const AttemptId first = flock.agent(0).home.jobs.at(JobId{0, 1}).attempt()->id;
    // One part ends well and says something; then the other is evicted.
    flock.inject(0, agent_node(AgentId{1}),
                 Exited{first, PartitionId{1}, {0, false, "of the first attempt"}, 3s});
    CHECK(flock.agent(0).home.jobs.at(JobId{0, 1}).run()->exit.log_tail == "of the first attempt");
    flock.ask(0, SetDrain{ServerId{0}, true, true});
    flock.run_for(20s);
    flock.ask(0, SetDrain{ServerId{0}, false, false});
    if (restart > 0) {
      flock.crash_agent(0);
      flock.restart_agent(0, restart == 2);
    }
    flock.run_for(2min);
    REQUIRE(flock.phase(1) == JobPhase::running);
    const Job& job = flock.agent(0).home.jobs.at(JobId{0, 1});
    CHECK(job.attempts == 2);
    CHECK(job.run()->exit == ExitStatus{});
    CHECK_FALSE(has_exit_code(told(flock, 1)));
    CHECK(told(flock, 1).exit == ExitStatus{});
    flock.cancel(1);
    REQUIRE(flock.settle(5min));
    CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 1}).exit.log_tail !=
          "of the first attempt");
  }
}

TEST_CASE("jobs accepted and ended are counted over all lives, archived ones too") {
  TestFlock flock({.servers = 1});
  flock.run_for(1s);
  flock.set_exit_code(2, 3);
  for (std::uint64_t n = 1; n <= 3; ++n) flock.submit(n, 1, 5s);
  flock.submit(4, 1, 0s);
  flock.run_for(10s);
  const auto counts = [&] {
    const Counters& c = flock.agent(0).counters;
    return std::array{c.accepted, c.finished, c.failed, c.cancelled};
  };
  const std::array<std::uint64_t, 4> before{4, 2, 1, 0};
  REQUIRE(counts() == before);
  for (const bool compacted : {false, true, true}) {
    flock.crash_agent(0);
    flock.restart_agent(0, compacted);
    flock.run_for(1s);
    CHECK(counts() == before);
  }
  flock.submit(5, 1, 5s);
  flock.cancel(4);
  REQUIRE(flock.settle(1min));
  CHECK(counts() == std::array<std::uint64_t, 4>{5, 3, 1, 1});
}

}  // namespace
}  // namespace starling
