// SPDX-License-Identifier: Apache-2.0
// Each thing that may grow, one beyond what it may be.
#include "sim/check/growth.h"

#include <doctest/doctest.h>

#include <memory>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

AttemptId attempt(std::uint32_t i) { return {{0, i + 1}, Epoch{1}, 1}; }

TEST_CASE("S11: an agent with one thing more than it may have is told which") {
  ScriptedOwner owner;  // 1 server with 4 GPUs, 1 executor, 2 agents
  AgentState state = owner.agent->state();
  REQUIRE(outgrown(state) == "");
  const auto grows = [&](const std::string& what) {
    CHECK_MESSAGE(outgrown(state).rfind(what + ": ", 0) == 0, outgrown(state));
  };
  Limits& limits = state.config.limits;
  constexpr std::uint32_t kShares = 4 * 8 + 1;
  SUBCASE("open jobs") {
    limits.jobs_waiting = 0;
    state.home.jobs.emplace(JobId{0, 1}, Job{});
    grows("open jobs");
  }
  SUBCASE("jobs that are over") {
    limits.jobs_remembered = 0;
    state.home.remembered.ended.emplace(JobId{0, 1}, JobState{});
    grows("jobs that are over");
  }
  SUBCASE("jobs that have moved") {
    limits.jobs_remembered = 0;
    state.home.remembered.moved.emplace(JobId{0, 1}, Moved{});
    grows("jobs that have moved");
  }
  SUBCASE("jobs that are over, in order") {
    state.home.remembered.ended_order.push_back(JobId{0, 1});
    grows("jobs that are over, in order");
  }
  SUBCASE("jobs that run") {
    const auto spec = std::make_shared<const JobSpec>();
    PolicyFacts facts;
    facts.preemptive = true;
    state.home.running = RunningViews(facts);
    for (int i = 0; i < 65; ++i) {
      Job job;
      job.spec = spec;
      job.doing = Job::Run{};
      state.home.running.enter(job);
    }
    grows("jobs that run");
  }
  SUBCASE("timers of jobs") {
    Instant held = kNever;
    state.home.timers.move(JobId{0, 1}, held, Instant{});
    grows("timers of jobs");
  }
  SUBCASE("shares") {
    for (std::uint32_t i = 0; i < kShares; ++i) (void)state.owner.shares[attempt(i)];
    grows("shares");
  }
  SUBCASE("timers of shares") {
    for (std::uint32_t i = 0; i < kShares; ++i) {
      Instant held = kNever;
      state.owner.share_timers.move(attempt(i), held, Instant{});
    }
    grows("timers of shares");
  }
  SUBCASE("lapses") {
    for (std::uint32_t i = 0; i < kShares; ++i) {
      Instant held = kNever;
      state.owner.lapses.move(attempt(i), held, Instant{});
    }
    grows("lapses");
  }
  SUBCASE("lapses by hold") {
    for (std::uint32_t i = 0; i < kShares; ++i) state.owner.lapse_at.emplace(attempt(i), Instant{});
    grows("lapses by hold");
  }
  SUBCASE("tombstones") {
    limits.tombstones = 0;
    state.owner.ledger.tombstones().add(attempt(0), {});
    grows("tombstones");
  }
  SUBCASE("executors") {
    state.owner.executors.resize(2);
    grows("executors");
  }
  SUBCASE("executors by node") {
    state.owner.executor_index.emplace(executor_node(7), 0);
    grows("executors by node");
  }
  SUBCASE("peers") {
    state.flock.peers.resize(3);
    grows("peers");
  }
  SUBCASE("digests of others") {
    state.flock.others.resize(3);
    grows("digests of others");
  }
}

TEST_CASE("S11: a job, a share and an attempt with one thing more than they may have") {
  ScriptedOwner owner;
  owner.start(owner.gpus);
  AgentState state = owner.agent->state();
  Job& job = state.home.jobs[JobId{0, 1}];
  Job::Run& run = job.doing.emplace<Job::Run>();
  OwnedShare& share = state.owner.shares.begin()->second;
  REQUIRE(outgrown(state) == "");
  const auto grows = [&](const std::string& what) {
    CHECK_MESSAGE(outgrown(state).rfind(what + ": ", 0) == 0, outgrown(state));
  };
  SUBCASE("offers") {
    job.offered.resize(3);
    grows("homes that a job was offered to");
  }
  SUBCASE("GPUs") {
    job.placement.resize(9);
    grows("a job's GPUs");
  }
  SUBCASE("GPUs to restart at") {
    run.drain = Job::Run::Drain{};
    run.drain->restart_at.resize(9);
    grows("GPUs to restart at");
  }
  SUBCASE("trouble") {
    job.trouble.resize(1'000'000);
    grows("a job's trouble in bytes");
  }
  SUBCASE("parts") {
    run.attempt.parts.resize(3);
    grows("an attempt's parts");
  }
  SUBCASE("claims") {
    job.doing.emplace<Job::Round>().claimed.resize(3);
    grows("a round's claims");
  }
  SUBCASE("bidders") {
    job.doing.emplace<Job::Round>().bids->asked.resize(3);
    grows("a round's bidders");
  }
  SUBCASE("bids") {
    job.doing.emplace<Job::Round>().bids->offers.resize(3);
    grows("a round's offers");
  }
  SUBCASE("task groups") {
    share.task_groups.resize(2);
    grows("a share's task groups");
  }
  SUBCASE("a gang") {
    share.gang.resize(3);
    grows("a share's gang");
  }
  SUBCASE("denials") {
    share.denied = {AgentId{0}, AgentId{1}, AgentId{2}};
    grows("those who deny a share");
  }
  SUBCASE("last words of a share") {
    share.exit.log_tail.resize(1'000'000);
    grows("a share's last words in bytes");
  }
}

}  // namespace
}  // namespace starling
