// SPDX-License-Identifier: Apache-2.0
// The agent of partition 0 keeps the flock's queues: who may change them, who learns of it, and
// what a new life of it still knows.
#include <doctest/doctest.h>

#include <string>

#include "agents/explain/describe.h"
#include "agents/testing/queues_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::string answer_to(TestFlock& flock, std::uint32_t agent, const Message& message,
                      const Asker& by = {}) {
  (void)flock.take_transcript();
  flock.inject(agent, client_node(1), message, by);
  flock.run_for(100ms);
  std::string text;
  for (const std::string& line : flock.take_transcript())
    if (line.find("QueuesState") != line.npos) text += line;
  return text;
}

bool says(const std::string& text, const std::string& what) {
  CAPTURE(text);
  return text.find(what) != std::string::npos;
}

std::uint64_t version_at(const TestFlock& flock, std::uint32_t agent) {
  return flock.agent(agent).home.quota.portions.tree().version;
}

TEST_CASE("an operator's queues reach every home and outlive all lives") {
  for (const bool compacted : {false, true}) {
    CAPTURE(compacted);
    TestFlock flock({.agents = 3, .servers = 3, .delay = 1ms, .lossy = true});
    flock.run_for(2s);
    set_queues(flock, tree_of(1, {queue_of("a", 4)}));
    flock.run_for(2s);
    for (std::uint32_t a = 0; a < 3; ++a) CHECK(version_at(flock, a) == 1);
    CHECK(flock.agent(0).keeper->unaware().empty());
    for (std::uint32_t a = 0; a < 3; ++a) {
      flock.crash_agent(a);
      flock.restart_agent(a, compacted);
      CHECK(version_at(flock, a) == 1);
    }
    flock.run_for(5s);
    CHECK(flock.agent(0).keeper->tree().version == 1);
    submit_to(flock, 1, 4, 5s, "a", 0, 1);
    submit_to(flock, 2, 4, 5s, "a", 0, 2);
    CHECK(flock.settle(1min));
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("who may not change the queues is told why, and whom to ask") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.run_for(1s);
  const SetQueues set{tree_of(1, {queue_of("a")})};
  CHECK(says(answer_to(flock, 0, set, {"ann", false}), "operators of the flock alone"));
  CHECK(says(answer_to(flock, 1, set), "ask agent 0"));
  CHECK(says(answer_to(flock, 1, QueuesQuery{}), "ask agent 0"));
  flock.inject(1, agent_node(AgentId{1}), set);
  CHECK(version_at(flock, 0) == 0);
  CHECK(version_at(flock, 1) == 0);
  CHECK(says(answer_to(flock, 0, set), "version 1"));
  CHECK(says(answer_to(flock, 0, set), "version 1"));  // a repeat is answered as before
  flock.run_for(1s);
  CHECK(version_at(flock, 1) == 1);
  CHECK(says(answer_to(flock, 0, SetQueues{tree_of(5, {queue_of("a")})}), "do not follow"));
  CHECK(says(answer_to(flock, 0, SetQueues{tree_of(2, {queue_of("a/b")})}), "give that, too"));
  CHECK(version_at(flock, 0) == 1);
}

TEST_CASE("a flock with an agent that knows no queues, or was not heard yet, gets none") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true, .protocol = kQueuesProtocol - 1});
  flock.run_for(2s);
  CHECK(says(answer_to(flock, 0, SetQueues{tree_of(1, {queue_of("a")})}), "speaks protocol 7"));
  CHECK(version_at(flock, 0) == 0);
  TestFlock cut({.agents = 2, .servers = 2, .lossy = true});
  cut.cut_off(agent_node(AgentId{0}), agent_node(AgentId{1}));
  cut.run_for(2s);
  CHECK(says(answer_to(cut, 0, SetQueues{tree_of(1, {queue_of("a")})}), "not been heard yet"));
}

TEST_CASE("a new life of the keeper gives nothing twice, and hears again who waits") {
  for (const bool compacted : {false, true}) {
    CAPTURE(compacted);
    TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = true});
    flock.run_for(2s);
    set_queues(flock, tree_of(1, {queue_of("a", 4)}));
    submit_to(flock, 1, 4, 10s, "a", 0, 1);
    flock.run_for(3s);
    submit_to(flock, 2, 3, 10s, "a", 0, 1);
    submit_to(flock, 3, 3, 10s, "a", 0, 0);
    flock.run_for(2s);
    flock.crash_agent(0);
    flock.run_for(1s);
    flock.restart_agent(0, compacted);
    for (int i = 0; i < 120; ++i) {
      flock.run_for(500ms);
      CHECK(used(flock, "a") <= 4);
    }
    CHECK(flock.settle(1min));
    CHECK(flock.phase(2) == JobPhase::finished);
    CHECK(flock.phase(3) == JobPhase::finished);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("what is written down says the same in a new life") {
  TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  set_queues(flock, tree_of(1, {queue_of("a", 6), sure_of("b", 2)}));
  submit_to(flock, 1, 4, 60s, "a", 0, 1);
  submit_to(flock, 2, 2, 60s, "b", 0, 0);
  flock.run_for(5s);
  set_queues(flock, tree_of(2, {queue_of("a", 8)}));
  flock.run_for(5s);
  for (std::uint32_t a = 0; a < 2; ++a) {
    const std::string now = durable_state(flock.agent(a));
    CHECK(now.find("queues 2") != std::string::npos);
    CHECK(durable_state(flock.replayed_agent(a, false)->state()) == now);
    CHECK(durable_state(flock.replayed_agent(a, true)->state()) == now);
  }
}

TEST_CASE("a lower most stops nothing and starts nothing, a higher one lets more in") {
  TestFlock flock({.agents = 2, .servers = 4, .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  set_queues(flock, tree_of(1, {queue_of("a", 8)}));
  for (std::uint64_t n = 1; n <= 4; ++n) submit_to(flock, n, 2, 30s, "a", 0, n % 2);
  flock.run_for(4s);
  REQUIRE(used(flock, "a") == 8);
  set_queues(flock, tree_of(2, {queue_of("a", 2)}));
  for (std::uint64_t n = 5; n <= 8; ++n) submit_to(flock, n, 2, 20s, "a", 0, n % 2);
  flock.run_for(5s);
  CHECK(used(flock, "a") == 8);
  flock.run_for(30s);
  CHECK(used(flock, "a") == 2);
  set_queues(flock, tree_of(3, {queue_of("a", 8)}));
  flock.run_for(5s);
  CHECK(used(flock, "a") >= 6);
  set_queues(flock, tree_of(4, {}));
  submit_to(flock, 9, 8, 5s, "none");
  CHECK(flock.settle(2min));
  CHECK(flock.phase(9) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

TEST_CASE("a queue that is guaranteed GPUs has them once those who were lent them end") {
  TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  set_queues(flock, tree_of(1, {sure_of("a", 4), queue_of("b")}));
  for (std::uint64_t n = 1; n <= 40; ++n) submit_to(flock, n, 1, 100s, "b", 0, n % 2);
  flock.run_for(40s);
  CHECK(used(flock, "b") == 8);
  for (std::uint64_t n = 41; n <= 48; ++n) submit_to(flock, n, 1, 100s, "a", 0, n % 2);
  flock.run_for(100s);
  CHECK(used(flock, "a") >= 4);
  CHECK(flock.settle(20min));
  CHECK(flock.faults().empty());
}

TEST_CASE("a home that has lost its queues is told them, a keeper that has lost its takes others") {
  TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  set_queues(flock, tree_of(1, {queue_of("a", 2)}));
  set_queues(flock, tree_of(2, {queue_of("a", 4)}));
  flock.run_for(2s);
  flock.crash_agent(1);
  flock.lose_journal(1);
  flock.restart_agent(1);
  flock.run_for(5s);
  CHECK(version_at(flock, 1) == 2);
  flock.crash_agent(0);
  flock.lose_journal(0);
  flock.restart_agent(0);
  flock.run_for(5s);
  CHECK(version_at(flock, 0) == 0);
  CHECK(flock.agent(0).keeper->newest() == 2);
  CHECK(says(answer_to(flock, 0, QueuesQuery{}), "version 2"));
  set_queues(flock, tree_of(1, {queue_of("b")}));
  CHECK(version_at(flock, 0) == 0);
  set_queues(flock, tree_of(3, {queue_of("b")}));
  flock.run_for(2s);
  for (std::uint32_t a = 0; a < 2; ++a) CHECK(version_at(flock, a) == 3);
  submit_to(flock, 1, 4, 5s, "b", 0, 1);
  CHECK(flock.settle(1min));
}

}  // namespace
}  // namespace starling
