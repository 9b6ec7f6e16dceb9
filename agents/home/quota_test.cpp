// SPDX-License-Identifier: Apache-2.0
// What jobs of a queue may have at once: at one home, and at several that share a queue.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "agents/home/scripted_home_test.h"
#include "agents/testing/queues_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobReason reason_at(const TestFlock& flock, std::uint64_t n, std::uint32_t home) {
  return flock.agent(home).home.jobs.at(JobId{0, n}).back();
}

TEST_CASE("a queue never has more than its most, and jobs kept back start in order") {
  TestFlock flock({.servers = 2});
  set_queues(flock, tree_of(1, {queue_of("a", 4)}));
  for (std::uint64_t n = 1; n <= 4; ++n) submit_to(flock, n, 2, 10s, "a");
  flock.run_for(1s);
  CHECK(used(flock, "a") == 4);
  CHECK(flock.phase(1) == JobPhase::running);
  CHECK(flock.phase(2) == JobPhase::running);
  CHECK(reason_at(flock, 3, 0) == JobReason::quota);
  CHECK(flock.agent(0).home.waiting_jobs() == 0);  // no policy sees them
  flock.run_for(10s);
  CHECK(flock.phase(3) == JobPhase::running);
  CHECK(flock.phase(4) == JobPhase::running);
  CHECK(flock.settle(1min));
  CHECK(flock.faults().empty());
}

TEST_CASE("the more urgent go first, and none passes one that is ahead because it is smaller") {
  TestFlock flock({.servers = 2});
  set_queues(flock, tree_of(1, {queue_of("a", 4)}));
  submit_to(flock, 1, 3, 10s, "a");
  flock.run_for(1s);
  submit_to(flock, 2, 2, 10s, "a");
  flock.run_for(1s);
  submit_to(flock, 3, 1, 10s, "a");  // would fit beside the first one
  flock.run_for(1s);
  submit_to(flock, 4, 4, 10s, "a", 5);
  flock.run_for(1s);
  for (std::uint64_t n = 2; n <= 4; ++n) CHECK(reason_at(flock, n, 0) == JobReason::quota);
  flock.run_for(8s);
  CHECK(flock.phase(4) == JobPhase::running);
  CHECK(flock.phase(2) != JobPhase::running);
  flock.run_for(10s);
  CHECK(flock.phase(2) == JobPhase::running);
  CHECK(flock.phase(3) == JobPhase::running);
  CHECK(flock.settle(1min));
}

TEST_CASE("a more urgent job takes the place of one that only waits for GPUs") {
  TestFlock flock({.servers = 4});
  set_queues(flock, tree_of(1, {queue_of("a", 4), queue_of("b")}));
  submit_to(flock, 1, 16, 10s, "b");
  flock.run_for(1s);
  submit_to(flock, 2, 4, 10s, "a");
  flock.run_for(1s);
  CHECK(reason_at(flock, 2, 0) == JobReason::none);
  submit_to(flock, 3, 4, 10s, "a", 1);
  flock.run_for(1s);
  CHECK(reason_at(flock, 2, 0) == JobReason::quota);
  CHECK(reason_at(flock, 3, 0) == JobReason::none);
  flock.run_for(8s);
  CHECK(flock.phase(3) == JobPhase::running);
  CHECK(flock.settle(1min));
}

TEST_CASE("without queues nothing is kept back and nothing is said") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(2s);
  for (std::uint64_t n = 1; n <= 6; ++n) submit_to(flock, n, 2, 5s, "any", 0, n % 2);
  flock.run_for(30s);
  CHECK(count_said(flock, "Quota") == 0);
  CHECK(count_said(flock, "SetQueues") == 0);
  CHECK(flock.settle(1min));
}

TEST_CASE("a start beyond the portion is made smaller, a resize is refused") {
  ScriptedHome home;
  home.hear(client_node(1), SetQueues{tree_of(1, {queue_of("a", 3)})});
  home.tick(2s);
  JobSpec spec;
  spec.queue = "a";
  spec.workers = 2;
  spec.min_workers = 1;
  spec.max_workers = 4;
  home.submit(1, spec);
  home.tick(2s);
  REQUIRE(home.job(1).back() == JobReason::none);
  const Placement four = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  REQUIRE(home.decide(Start{JobId{0, 1}, four}));
  CHECK(home.job(1).placement == Placement{GpuId{0}, GpuId{1}});
  home.launched();
  REQUIRE(home.job(1).stage() == Stage::running);
  CHECK_FALSE(home.decide(Resize{JobId{0, 1}, four}));
  CHECK(home.script->refusals.back().second == DecisionFault::quota);
  CHECK(home.job(1).stage() == Stage::running);
  CHECK(home.decide(Resize{JobId{0, 1}, {GpuId{0}}}));
}

TEST_CASE("a job of no queue is refused with what would be right, one of another home is not") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.run_for(1s);
  QueueSpec of_ann = queue_of("b");
  of_ann.users = {"ann"};
  set_queues(flock, tree_of(1, {queue_of("a", 2), of_ann}));
  const auto refused = [&](JobSpec spec) {
    spec.id = JobId{0, 9};
    (void)flock.take_transcript();
    flock.inject(0, client_node(0), Submit{spec, client_node(0)});
    std::string text;
    for (const std::string& line : flock.take_transcript()) text += line;
    flock.run_for(1s);
    for (const std::string& line : flock.take_transcript())
      if (line.find("Rejected") != line.npos) text += line;
    return text;
  };
  JobSpec spec;
  spec.queue = "none";
  CHECK(refused(spec).find("'none'") != std::string::npos);
  spec.queue = "b";
  spec.user = "bob";
  CHECK(refused(spec).find("invalid") != std::string::npos);
  spec = {};
  spec.queue = "a";
  spec.workers = 3;
  CHECK(refused(spec).find("never fits") != std::string::npos);
  CHECK(flock.agent(0).home.jobs.empty());
  spec.id = JobId{0, 8};
  spec.queue = "none";
  flock.inject(0, agent_node(AgentId{1}), Submit{spec, client_node(0), {}, {}, 1});
  REQUIRE(flock.agent(0).home.jobs.contains(spec.id));
  CHECK(reason_at(flock, 8, 0) == JobReason::quota);
  flock.inject(0, client_node(0), Cancel{spec.id});
}

TEST_CASE("two homes together never have more than the most, and what one leaves the other gets") {
  for (const bool lossy : {false, true}) {
    CAPTURE(lossy);
    TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = lossy});
    flock.run_for(2s);
    set_queues(flock, tree_of(1, {queue_of("a", 6)}));
    flock.run_for(3s);
    for (std::uint64_t n = 1; n <= 12; ++n) submit_to(flock, n, 2, 20s, "a", 0, n % 2);
    std::uint32_t most = 0;
    for (int i = 0; i < 400 && !flock.settled(); ++i) {
      flock.run_for(500ms);
      most = std::max(most, used(flock, "a"));
    }
    CHECK(most == 6);
    CHECK(flock.settled());
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("a portion moves from an idle home to one that waits") {
  TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  set_queues(flock, tree_of(1, {queue_of("a", 4)}));
  submit_to(flock, 1, 4, 8s, "a", 0, 1);
  flock.run_for(4s);
  REQUIRE(flock.phase(1) == JobPhase::running);
  submit_to(flock, 2, 4, 20s, "a", 0, 0);
  flock.run_for(2s);
  CHECK(reason_at(flock, 2, 0) == JobReason::quota);
  flock.run_for(8s);  // home 1 has nothing to do any more, and keeps nothing
  CHECK(flock.phase(2) == JobPhase::running);
  CHECK(flock.settle(1min));
}

TEST_CASE("asks and grants may be lost, repeated and late") {
  for (const char* kind : {"QuotaAsk", "QuotaGrant", "SetQueues"}) {
    CAPTURE(kind);
    TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = true});
    flock.run_for(2s);
    flock.lose_next(kind, 3);
    set_queues(flock, tree_of(1, {queue_of("a", 4)}));
    submit_to(flock, 1, 4, 5s, "a", 0, 1);
    submit_to(flock, 2, 4, 5s, "a", 0, 0);
    CHECK(flock.settle(2min));
    CHECK(flock.faults().empty());
  }
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    TestFlock flock({.agents = 3,
                     .servers = 6,
                     .seed = seed,
                     .delay = 1ms,
                     .jitter = 400ms,
                     .loss = 0.2,
                     .duplication = 0.3,
                     .lossy = true});
    flock.run_for(5s);
    set_queues(flock, tree_of(1, {queue_of("a", 5), queue_of("b", 7)}));
    flock.run_for(10s);
    std::uint32_t most_a = 0, most_b = 0;
    for (std::uint64_t n = 1; n <= 20; ++n) {
      submit_to(flock, n, 1 + static_cast<std::uint32_t>(n % 4), 8s, n % 2 == 0 ? "a" : "b", 0,
                n % 3);
    }
    for (int i = 0; i < 600; ++i) {
      if (i == 200) flock.heal();
      flock.run_for(500ms);
      most_a = std::max(most_a, used(flock, "a"));
      most_b = std::max(most_b, used(flock, "b"));
    }
    CHECK(flock.settle(10min));
    CHECK(most_a <= 5);
    CHECK(most_b <= 7);
    CHECK(most_a > 0);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("a new life of a home goes on with what runs, and asks for the rest") {
  for (const bool compacted : {false, true}) {
    CAPTURE(compacted);
    TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = true});
    flock.run_for(2s);
    set_queues(flock, tree_of(1, {queue_of("a", 6)}));
    submit_to(flock, 1, 4, 30s, "a", 0, 1);
    flock.run_for(3s);
    submit_to(flock, 2, 2, 30s, "a", 0, 0);
    submit_to(flock, 3, 2, 5s, "a", 0, 1);
    flock.run_for(3s);
    REQUIRE(used(flock, "a") == 6);
    flock.crash_agent(1);
    flock.restart_agent(1, compacted);
    for (int i = 0; i < 20; ++i) {
      flock.run_for(500ms);
      CHECK(used(flock, "a") <= 6);
    }
    CHECK(reason_at(flock, 3, 1) == JobReason::quota);
    CHECK(flock.settle(2min));
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("most_per_user holds for each user") {
  TestFlock flock({.servers = 2});
  QueueSpec queue = queue_of("a");
  queue.most_per_user = 2;
  set_queues(flock, tree_of(1, {queue}));
  for (std::uint64_t n = 1; n <= 4; ++n) {
    JobSpec spec = job_in(n, 2, 10s, "a");
    spec.user = n % 2 == 0 ? "ann" : "bob";
    flock.submit(spec, 0);
  }
  flock.run_for(1s);
  CHECK(flock.phase(1) == JobPhase::running);
  CHECK(flock.phase(2) == JobPhase::running);
  CHECK(reason_at(flock, 3, 0) == JobReason::quota);
  CHECK(reason_at(flock, 4, 0) == JobReason::quota);
  CHECK(flock.settle(1min));
}

TEST_CASE("why a job is kept back for its queue is told") {
  TestFlock flock({.servers = 2});
  set_queues(flock, tree_of(1, {queue_of("a", 4)}));
  submit_to(flock, 1, 4, 60s, "a");
  submit_to(flock, 2, 2, 60s, "a");
  submit_to(flock, 3, 1, 60s, "a");
  flock.run_for(1s);
  (void)flock.take_transcript();
  flock.ask(0, Explain{JobId{0, 3}});
  flock.run_for(1s);
  std::string text;
  for (const std::string& line : flock.take_transcript()) text += line;
  CAPTURE(text);
  CHECK(text.find("queue 'a' uses 4 of 4 GPUs that it may have here") != std::string::npos);
  CHECK(text.find("is number 2 of 2 jobs that are kept back for it") != std::string::npos);
  CHECK(text.find("it may never have more than 4 GPUs") != std::string::npos);
}

TEST_CASE("whose limit keeps a job back is told where others of it run at other homes") {
  TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms});
  flock.run_for(1s);  // until the agents have heard one another
  const auto told = [&](std::uint64_t n) {
    flock.run_for(1s);
    (void)flock.take_transcript();
    flock.ask(0, Explain{JobId{0, n}});
    flock.run_for(1s);
    std::string text;
    for (const std::string& line : flock.take_transcript()) text += line;
    return text;
  };
  const auto submit = [&](std::uint64_t n, const char* queue, std::uint32_t home) {
    JobSpec spec = job_in(n, 1, 60s, queue);
    spec.user = "ann";
    flock.submit(spec, home);
    flock.run_for(1s);
  };
  QueueSpec of_each = queue_of("a");
  of_each.most_per_user = 2;
  set_queues(flock, tree_of(1, {of_each, queue_of("b", 2)}));
  submit(1, "a", 0);
  submit(2, "a", 1);
  submit(3, "a", 0);
  const std::string of_user = told(3);
  CAPTURE(of_user);
  CHECK(of_user.find("what user 'ann' may have in queue 'a', at this home") != std::string::npos);
  CHECK(of_user.find("raises 'most_per_user' of that queue") != std::string::npos);
  submit(4, "b", 0);
  submit(5, "b", 1);
  submit(6, "b", 0);
  const std::string of_queue = told(6);
  CAPTURE(of_queue);
  CHECK(of_queue.find("what queue 'b' may have, at this home") != std::string::npos);
  CHECK(of_queue.find("raises 'most' of that queue") != std::string::npos);
  set_queues(flock, tree_of(2, {of_each}));
  CHECK(told(6).find("there is no such queue that has jobs") != std::string::npos);
}

TEST_CASE("jobs that name no queue stay in the fallback that they were given") {
  TestFlock flock({.servers = 2});
  const auto with_fallback = [](std::uint64_t version, const char* fallback) {
    QueueTree tree = tree_of(version, {queue_of("a", 4), queue_of("b", 4)});
    tree.fallback = fallback;
    return tree;
  };
  submit_to(flock, 1, 1, 60s, "");  // before there were queues
  flock.run_for(1s);
  set_queues(flock, with_fallback(1, "a"));
  submit_to(flock, 2, 2, 60s, "");
  flock.run_for(1s);
  CHECK(used(flock, "a") == 3);
  set_queues(flock, with_fallback(2, "b"));
  submit_to(flock, 3, 4, 60s, "b");
  submit_to(flock, 4, 1, 60s, "");
  flock.run_for(1s);
  CHECK(used(flock, "a") == 3);
  CHECK(used(flock, "b") == 4);
  CHECK(flock.phase(3) == JobPhase::running);
  for (const bool compacted : {false, true}) {
    const auto next = flock.replayed_agent(0, compacted);
    for (std::uint64_t n = 1; n <= 4; ++n)
      CHECK(next->state().home.jobs.at(JobId{0, n}).spec->queue == (n <= 2 ? "a" : "b"));
  }
  CHECK(flock.settle(5min));
  CHECK(flock.faults().empty());
}

TEST_CASE("a job that is larger than its queue may be now keeps none behind it back") {
  TestFlock flock({.servers = 2});
  set_queues(flock, tree_of(1, {queue_of("a", 4)}));
  submit_to(flock, 1, 4, 5s, "a");
  flock.run_for(1s);
  submit_to(flock, 2, 4, 5s, "a");
  flock.run_for(1s);
  set_queues(flock, tree_of(2, {queue_of("a", 2)}));
  submit_to(flock, 3, 2, 5s, "a");
  flock.run_for(20s);
  CHECK(flock.phase(3) == JobPhase::finished);
  CHECK(reason_at(flock, 2, 0) == JobReason::quota);
  (void)flock.take_transcript();
  flock.ask(0, Explain{JobId{0, 2}});
  flock.run_for(1s);
  std::string text;
  for (const std::string& line : flock.take_transcript()) text += line;
  CAPTURE(text);
  CHECK(text.find("it starts once an operator raises that") != std::string::npos);
  set_queues(flock, tree_of(3, {queue_of("a", 4)}));
  CHECK(flock.settle(1min));
  CHECK(flock.phase(2) == JobPhase::finished);
}

TEST_CASE("under a policy of one size an elastic job needs room for all its workers") {
  TestFlock flock({.servers = 2});
  set_queues(flock, tree_of(1, {queue_of("a", 3)}));
  JobSpec spec = job_in(1, 4, 5s, "a");
  spec.min_workers = 1;
  spec.max_workers = 4;
  flock.inject(0, client_node(0), Submit{spec, client_node(0)});
  CHECK(flock.agent(0).home.jobs.empty());
}

TEST_CASE("a keeper that is far away is heeded, however often something new is wanted") {
  TestFlock flock({.agents = 2, .servers = 4, .delay = 700ms, .lossy = true});
  flock.run_for(5s);
  set_queues(flock, tree_of(1, {queue_of("a", 4)}));
  flock.run_for(5s);
  for (std::uint64_t n = 1; n <= 40; ++n) {
    submit_to(flock, n, 1, 60s, "a", 0, 1);
    flock.run_for(500ms);
  }
  CHECK(used(flock, "a") == 4);
}

}  // namespace
}  // namespace starling
