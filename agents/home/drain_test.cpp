// SPDX-License-Identifier: Apache-2.0
// Servers that an operator has drained, and GPUs that are bad: nothing new comes there, and nothing
// is lost.
#include <doctest/doctest.h>

#include "agents/executor/executor_state.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a drain outlives the agent, in its journal and in its snapshot") {
  for (const bool compacted : {false, true}) {
    TestFlock flock({.servers = 2});
    flock.run_for(1s);
    flock.ask(0, SetDrain{ServerId{1}, true, false});
    flock.run_for(1s);
    CHECK(flock.agent(0).owner.ledger.drained_count() == 4);
    CHECK(flock.agent(0).owner.ledger.quarantined_count() == 0);
    flock.crash_agent(0);
    flock.restart_agent(0, compacted);
    flock.run_for(1s);
    CHECK(flock.agent(0).owner.ledger.drained_count() == 4);
    CHECK(flock.agent(0).owner.ledger.free_count() == 4);
    flock.submit(1, 5, 10s);
    flock.run_for(1s);
    CHECK(flock.phase(1) != JobPhase::running);
    flock.ask(0, SetDrain{ServerId{1}, false, false});
    CHECK(flock.settle(1min));
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("a gang over two partitions is requeued when one of its servers is evicted") {
  TestFlock flock({.agents = 2, .servers = 4, .lossy = true});
  flock.run_for(2s);
  flock.submit(1, 12, 60s);
  flock.run_for(10s);
  REQUIRE(flock.phase(1) == JobPhase::running);
  const GpuId far = flock.client().find(JobId{0, 1})->state.placement.back();
  const ServerId server = flock.topology().server_of(far);
  flock.ask(1, SetDrain{server, true, true});
  flock.run_for(20s);
  CHECK(flock.agent(1).owner.ledger.is_drained(server));
  CHECK(flock.phase(1) == JobPhase::running);  // on the other three servers
  CHECK(flock.client().find(JobId{0, 1})->state.attempts == 2);
  flock.ask(1, SetDrain{server, false, false});
  CHECK(flock.settle(5min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

TEST_CASE("a drain that its end has overtaken changes nothing, also in a later life") {
  for (const int restart : {0, 1, 2}) {
    TestFlock flock({.servers = 2});
    flock.run_for(1s);
    flock.ask(0, SetDrain{ServerId{1}, true, false, 1});
    flock.run_for(1s);
    CHECK(flock.agent(0).owner.ledger.drained_count() == 4);
    flock.ask(0, SetDrain{ServerId{1}, false, false, 2});
    flock.run_for(1s);
    if (restart > 0) {
      flock.crash_agent(0);
      flock.restart_agent(0, restart == 2);
    }
    (void)flock.take_transcript();
    flock.ask(0, SetDrain{ServerId{1}, true, true, 1});
    flock.ask(0, SetDrain{ServerId{1}, true, true, 2});
    flock.run_for(1s);
    CHECK(flock.agent(0).owner.ledger.drained_count() == 0);
    int late = 0;
    for (const std::string& line : flock.take_transcript())
      late += line.find("DrainState server 1: expired") != std::string::npos ? 1 : 0;
    CHECK(late == 2);
    flock.ask(0, SetDrain{ServerId{1}, true, false, 3});
    flock.ask(0, SetDrain{ServerId{1}, true, false, 3});
    flock.run_for(1s);
    CHECK(flock.agent(0).owner.ledger.drained_count() == 4);
  }
}

TEST_CASE("a gang that needs a drained server leaves the others their turns") {
  TestFlock flock(
      {.agents = 3, .servers = 3, .policy = "fifo:queue=skip", .delay = 1ms, .lossy = true});
  flock.run_for(2s);
  flock.ask(0, SetDrain{ServerId{0}, true, false, 1});
  flock.submit(1, 12, 10s, 0);  // all there are
  flock.submit(2, 1, 0s, 0);
  flock.submit(3, 4, 0s, 1);
  flock.run_for(20min);
  int closed = 0;
  for (int i = 0; i < 30 * 60; ++i) {
    flock.run_for(1s);
    closed += flock.agent(2).owner.claim ? 1 : 0;
  }
  CHECK(closed < 5 * 60);
}

TEST_CASE("the server of another partition is not drained") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.run_for(1s);
  (void)flock.take_transcript();
  flock.ask(0, SetDrain{ServerId{1}, true, true});
  flock.run_for(1s);
  bool refused = false;
  for (const std::string& line : flock.take_transcript())
    refused = refused || line.find("DrainState server 1: invalid") != std::string::npos;
  CHECK(refused);
  CHECK(flock.agent(0).owner.ledger.drained().empty());
}

TEST_CASE("a GPU that comes and goes stays out until it has been quiet") {
  TestFlock flock({.servers = 2, .lossy = true});
  flock.run_for(2s);
  for (int i = 0; i < 5; ++i) {
    flock.set_sick(0, {GpuId{1}});
    flock.run_for(20s);
    CHECK(flock.agent(0).owner.ledger.sick_count() == 1);
    flock.set_sick(0, {});
    flock.run_for(40s);
    CHECK(flock.agent(0).owner.ledger.sick_count() == 1);
  }
  flock.run_for(25s);
  CHECK(flock.agent(0).owner.ledger.sick_count() == 0);
  CHECK(flock.agent(0).owner.ledger.free_count() == 8);
}

TEST_CASE("a GPU that something of an earlier life still uses is free once it lets go") {
  TestFlock flock({.servers = 2, .lossy = true});
  flock.run_for(2s);
  flock.set_in_use(0, {GpuId{1}});
  flock.run_for(5s);
  CHECK(flock.agent(0).owner.ledger.sick_count() == 1);
  CHECK(flock.agent(0).owner.ledger.free_count() == 7);
  flock.set_in_use(0, {});
  flock.run_for(5s);
  CHECK(flock.agent(0).owner.ledger.sick_count() == 0);
  CHECK(flock.agent(0).owner.ledger.free_count() == 8);
  CHECK(flock.faults().empty());
}

TEST_CASE("what is known of bad GPUs survives lost words and a new owner") {
  TestFlock flock({.servers = 2, .lossy = true});
  flock.run_for(2s);
  flock.lose_next("GpuHealth", 3);
  flock.set_sick(1, {GpuId{5}, GpuId{6}});
  flock.run_for(5s);
  CHECK(flock.agent(0).owner.ledger.sick_count() == 2);
  flock.crash_agent(0);
  flock.restart_agent(0);
  flock.run_for(2s);
  CHECK(flock.agent(0).owner.ledger.sick_count() == 2);
  CHECK(flock.agent(0).owner.ledger.free_count() == 6);
  CHECK(flock.agent(0).owner.ledger.quarantined_count() == 2);
  flock.crash_executor(1);
  flock.restart_executor(1);  // on a repaired machine
  flock.run_for(5s);
  CHECK(flock.agent(0).owner.ledger.free_count() == 8);
  CHECK(flock.faults().empty());
}

TEST_CASE("what an executor has said of its GPUs is not undone by what it said before") {
  TestFlock flock({.servers = 2});
  flock.run_for(1s);
  const std::uint64_t version = flock.executor(0).health_version();
  flock.inject(0, executor_node(0), GpuHealth{version + 2, {GpuId{1}}});
  for (const std::uint64_t late : {version + 1, version + 2}) {
    flock.inject(0, executor_node(0), GpuHealth{late, {}});
    CHECK(flock.agent(0).owner.ledger.sick_count() == 1);
  }
  flock.inject(0, executor_node(0), GpuHealth{version + 3, {}});
  CHECK(flock.agent(0).owner.ledger.sick_count() == 0);
}

TEST_CASE("a ledger adds up whatever is out of use") {
  TestFlock flock({.servers = 2});
  flock.run_for(1s);
  flock.submit(1, 2, 60s);
  flock.run_for(1s);
  flock.set_sick(0, {GpuId{0}, GpuId{3}});
  flock.ask(0, SetDrain{ServerId{0}, true, false});
  flock.run_for(1s);
  // Job 1 was requeued from GPU 0 and sits on the other server.
  const Ledger& ledger = flock.agent(0).owner.ledger;
  CHECK(ledger.held_count() == 2);
  CHECK(ledger.drained_count() == 2);
  CHECK(ledger.quarantined_count() == 2);
  CHECK(ledger.free_count() == 2);
  CHECK(flock.faults().empty());
}

}  // namespace
}  // namespace starling
