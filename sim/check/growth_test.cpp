// SPDX-License-Identifier: Apache-2.0
// Each thing that may grow, one beyond what it may be.
#include "sim/check/growth.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "agents/owner/scripted_owner_test.h"

namespace starling {
namespace {

AttemptId attempt(std::uint32_t i) { return {{0, i + 1}, Epoch{1}, 1}; }

/// One thing more than `state` may have, by what it is called.
struct Growth {
  const char* what;
  void (*grow)(AgentState& state);
};

constexpr std::uint32_t kShares = 4 * 8 + 1;

void add_timers(TimerQueue<AttemptId>& timers) {
  for (std::uint32_t i = 0; i < kShares; ++i) {
    Instant held = kNever;
    timers.move(attempt(i), held, Instant{});
  }
}

const Growth kGrowths[] = {
    {"open jobs",
     [](AgentState& s) {
       s.config.limits.jobs_waiting = 0;
       s.home.jobs.emplace(JobId{0, 1}, Job{});
     }},
    {"jobs that are over",
     [](AgentState& s) {
       s.config.limits.jobs_remembered = 0;
       s.home.remembered.ended.emplace(JobId{0, 1}, JobState{});
     }},
    {"jobs that have moved",
     [](AgentState& s) {
       s.config.limits.jobs_remembered = 0;
       s.home.remembered.moved.emplace(JobId{0, 1}, Moved{});
     }},
    {"jobs that are over, in order",
     [](AgentState& s) {
       s.home.remembered.ended_order.push_back(JobId{0, 1});
     }},
    {"jobs that run",
     [](AgentState& s) {
       PolicyFacts facts;
       facts.preemptive = true;
       s.home.running = RunningViews(facts);
       static const auto spec = std::make_shared<const JobSpec>();
       for (int i = 0; i < 65; ++i) {
         Job job;
         job.spec = spec;
         job.doing = Job::Run{};
         s.home.running.enter(job);
       }
     }},
    {"timers of jobs",
     [](AgentState& s) {
       Instant held = kNever;
       s.home.timers.move(JobId{0, 1}, held, Instant{});
     }},
    {"shares",
     [](AgentState& s) {
       for (std::uint32_t i = 0; i < kShares; ++i) (void)s.owner.shares[attempt(i)];
     }},
    {"timers of shares", [](AgentState& s) { add_timers(s.owner.share_timers); }},
    {"lapses", [](AgentState& s) { add_timers(s.owner.lapses); }},
    {"lapses by hold",
     [](AgentState& s) {
       for (std::uint32_t i = 0; i < kShares; ++i) s.owner.lapse_at.emplace(attempt(i), Instant{});
     }},
    {"tombstones",
     [](AgentState& s) {
       s.config.limits.tombstones = 0;
       s.owner.ledger.tombstones().add(attempt(0), {});
     }},
    {"executors", [](AgentState& s) { s.owner.executors.resize(2); }},
    {"executors by node",
     [](AgentState& s) { s.owner.executor_index.emplace(executor_node(7), 0); }},
    {"peers", [](AgentState& s) { s.flock.peers.resize(3); }},
    {"digests of others", [](AgentState& s) { s.flock.others.resize(3); }},
};

TEST_CASE("S11: an agent with one thing more than it may have is told which") {
  ScriptedOwner owner;  // 1 server with 4 GPUs, 1 executor, 2 agents
  for (const Growth& growth : kGrowths) {
    AgentState state = owner.agent->state();
    REQUIRE(outgrown(state) == "");
    growth.grow(state);
    CHECK_MESSAGE(outgrown(state).rfind(std::string(growth.what) + ": ", 0) == 0, outgrown(state));
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
