// SPDX-License-Identifier: Apache-2.0
// What a policy decides is checked against the jobs and the ledger: what is good is done, what is
// wrong is counted and changes nothing.
#include <doctest/doctest.h>

#include <chrono>

#include "agents/home/scripted_home_test.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobSpec elastic() {
  JobSpec spec;
  spec.workers = 2;
  spec.gpus_per_worker = 1;
  spec.min_workers = 2;
  spec.max_workers = 3;
  return spec;
}

TEST_CASE("a Start of the wrong size, or of what cannot be started, is no good") {
  ScriptedHome home;
  const JobId rigid = home.submit(1, 2), grows = home.submit(2, elastic());
  CHECK_FALSE(home.decide(Start{JobId{0, 99}, range(0, 1)}));
  CHECK_FALSE(home.decide(Start{rigid, range(0, 3)}));
  CHECK_FALSE(home.decide(Start{grows, range(0, 1)}));
  CHECK_FALSE(home.decide(Start{grows, range(0, 4)}));
  CHECK_FALSE(home.decide(Forward{JobId{0, 99}, AgentId{0}}));
  CHECK_FALSE(home.decide(Spread{JobId{0, 99}, range(0, 1)}));
  CHECK(home.last<Launch>() == nullptr);
  CHECK(home.decide(Start{grows, range(0, 3)}));
  CHECK(home.job(2).placement == range(0, 3));
  // How much faster that is than what it asked for, only who knows both can tell.
  REQUIRE(home.last<Launch>() != nullptr);
  CHECK(home.last<Launch>()->spec.workers == 2);
  CHECK(home.last<Launch>()->here.size() == 3);
  CHECK_FALSE(home.decide(Start{grows, range(0, 3)}));
}

TEST_CASE("the policy is told which of its decisions were refused, and why") {
  ScriptedHome home(2);
  const JobId runs = home.submit(1, 2), waits = home.submit(2, 1);
  JobSpec once;
  once.no_requeue = true;
  const JobId stays = home.submit(3, once);
  home.script->next = {Start{runs, range(0, 2)},   Start{stays, range(2, 3)},
                       Start{runs, range(0, 2)},   Start{waits, range(0, 2)},
                       Start{waits, range(0, 1)},  Preempt{waits},
                       Forward{waits, AgentId{0}}, Spread{waits, range(2, 4)}};
  home.ask_policy();
  using F = DecisionFault;
  CHECK(home.script->refusals == std::vector<std::pair<JobId, F>>{{runs, F::not_waiting},
                                                                  {waits, F::wrong_size},
                                                                  {waits, F::no_room},
                                                                  {waits, F::not_running},
                                                                  {waits, F::no_home},
                                                                  {waits, F::wrong_size}});
  CHECK(home.state().counters.wrong_decisions == home.script->refusals.size());
  home.launched();
  home.script->refusals.clear();
  home.script->next = {Preempt{stays}, Start{waits, {GpuId{3}, GpuId{3}}},
                       Start{JobId{9, 9}, range(3, 4)}, Start{waits, range(3, 4)}};
  home.ask_policy();
  CHECK(home.script->refusals == std::vector<std::pair<JobId, F>>{{stays, F::keep_running},
                                                                  {waits, F::wrong_size},
                                                                  {JobId{9, 9}, F::not_waiting}});
}

TEST_CASE("a worker of an elastic job gets all its GPUs or is none") {
  ScriptedHome home;
  JobSpec pairs = elastic();
  pairs.workers = pairs.min_workers = 1;
  pairs.max_workers = 2;
  pairs.gpus_per_worker = 2;
  const JobId job = home.submit(1, pairs);
  CHECK_FALSE(home.decide(Start{job, range(0, 3)}));
  CHECK(home.decide(Start{job, range(0, 4)}));
}

TEST_CASE(
    "a Resize to where a job is stops nothing; one to elsewhere drains it, and it is let be") {
  ScriptedHome home;
  const JobId job = home.submit(1, elastic());
  REQUIRE(home.decide(Start{job, range(0, 2)}));
  home.launched();
  REQUIRE(home.job(1).stage() == Stage::running);
  home.ask_policy();
  CHECK(home.script->seen.running == std::vector{job});
  CHECK(home.script->seen.blocked.empty());

  CHECK_FALSE(home.decide(Resize{job, range(0, 2)}));
  CHECK(home.job(1).stage() == Stage::running);
  CHECK(home.state().counters.resizes == 0);

  CHECK(home.decide(Resize{job, range(1, 4)}));
  CHECK(home.state().counters.resizes == 1);
  CHECK(home.job(1).stage() == Stage::draining);
  home.ask_policy();
  CHECK(home.script->seen.blocked == std::vector{job});
  home.hear(executor_node(0), Killed{home.last<Kill>()->attempt, 1s});
  CHECK(home.job(1).placement == range(1, 4));
  CHECK(home.job(1).stage() == Stage::starting);
}

TEST_CASE("what a job had done before a resize is told once") {
  ScriptedHome home;
  const JobId job = home.submit(1, elastic());
  REQUIRE(home.decide(Start{job, range(0, 2)}));
  home.launched();
  home.hear(executor_node(0), Progress{home.last<Launch>()->attempt, 500s, 1});
  home.hear(client_node(0), Query{job});
  CHECK(home.last<JobState>()->served == 500s);
  REQUIRE(home.decide(Resize{job, range(1, 4)}));
  home.hear(executor_node(0), Killed{home.last<Kill>()->attempt, 500s});
  home.launched();
  REQUIRE(home.job(1).stage() == Stage::running);
  home.hear(client_node(0), Query{job});
  CHECK(home.last<JobState>()->served == 500s);
}

TEST_CASE("only what runs can be stopped, and for other jobs only where one of them has its turn") {
  ScriptedHome home(2);
  const JobId waits = home.submit(1, 3), runs = home.submit(2, elastic());
  REQUIRE(home.decide(Start{runs, range(0, 2)}));
  CHECK_FALSE(home.decide(Preempt{runs}));  // it starts
  home.launched();
  CHECK_FALSE(home.decide(Preempt{JobId{0, 99}}));
  CHECK_FALSE(home.decide(Resize{JobId{0, 99}, range(1, 4)}));
  CHECK_FALSE(home.decide(Preempt{waits}));
  BidRequest turn{{JobId{0, 50}, Epoch{1}, 1}, 4, 1, {}};
  turn.claim_ms = 60'000;
  turn.waited = 1h;
  home.hear(AgentId{1}, turn);
  REQUIRE(home.state().owner.claim);
  CHECK_FALSE(home.decide(Preempt{runs}));
  CHECK_FALSE(home.decide(Resize{runs, range(1, 4)}));
  CHECK(home.job(2).stage() == Stage::running);
  home.hear(AgentId{1}, Release{turn.attempt, home.state().fence()});
  CHECK(home.decide(Preempt{runs}));
  CHECK(home.job(2).stage() == Stage::draining);
  CHECK(home.state().counters.preemptions == 1);
}

TEST_CASE("a policy is told of an arrival rather than of what else has changed") {
  ScriptedHome home;
  home.submit(1, 4);
  home.hear(executor_node(0), GpuHealth{++home.health, {}});
  home.tick();
  CHECK(home.script->seen.why == TriggerKind::arrival);
  home.ask_policy();
  CHECK(home.script->seen.why == TriggerKind::departure);
}

TEST_CASE("a Spread that has all it needs here starts here, with no other agent in the flock") {
  ScriptedHome home;
  const JobId job = home.submit(1, 3);
  CHECK_FALSE(home.decide(Spread{job, range(0, 2)}));
  CHECK_FALSE(home.decide(Spread{job, range(0, 4)}));
  CHECK(home.decide(Spread{job, range(1, 4)}));
  CHECK(home.last<Launch>()->here == range(1, 4));
}

TEST_CASE("of what a policy offers each GPU goes out once, in order, if it is free and here") {
  ScriptedHome home(2);
  REQUIRE(home.decide(Start{home.submit(1, 1), range(2, 3)}));
  home.script->offers = {GpuId{3}, GpuId{1}, GpuId{2}, GpuId{6}, GpuId{1}, GpuId{0}};
  home.hear(AgentId{1}, BidRequest{{JobId{0, 50}, Epoch{1}, 1}, 3, 1, {}});
  REQUIRE(home.last<Offer>() != nullptr);
  CHECK(home.last<Offer>()->share.gpus == Placement{GpuId{0}, GpuId{1}, GpuId{3}});
}

TEST_CASE("GPUs that another home lets go are decided about at once") {
  ScriptedHome home(2);
  const AttemptId attempt{JobId{0, 50}, Epoch{1}, 1};
  home.hear(AgentId{1}, Reserve{attempt, home.state().fence(), range(0, 4), 5000});
  home.submit(1, 4);
  home.tick();
  home.tick();
  REQUIRE_FALSE(home.state().deciding.decided);
  home.hear(AgentId{1}, Release{attempt, home.state().fence()});
  home.tick();
  CHECK(home.state().deciding.decided);
  CHECK(home.script->seen.why == TriggerKind::departure);
}

TEST_CASE("a policy is asked again when it wants to be, if a job still waits") {
  ScriptedHome home(2);
  home.submit(1, 8);
  home.script->again = later(home.now, 3s);
  home.ask_policy();
  CHECK(home.agent->next_deadline() <= home.script->again);
  home.tick(2s);
  CHECK_FALSE(home.state().deciding.decided);
  home.tick(1s);
  CHECK(home.state().deciding.decided);
  CHECK(home.script->seen.why == TriggerKind::digest);
  CHECK(home.state().deciding.again == kNever);  // what it wanted has passed
}

TEST_CASE("how long decisions took is in the status, to a quarter of an octave") {
  ScriptedHome home;
  home.submit(1, 4);
  home.tick();
  home.agent->note_decision_time(1ms);
  const AgentStatus status = home.agent->status();
  CHECK(status.decision_p50_us >= 1000);
  CHECK(status.decision_p50_us <= 1250);
  CHECK(status.decision_p99_us == status.decision_p50_us);
  home.agent->note_decision_time(1h);  // the policy was not asked
  CHECK(home.agent->status().decision_p99_us == status.decision_p99_us);
}

}  // namespace
}  // namespace starling
