// SPDX-License-Identifier: Apache-2.0
// A host, an agent or the way between them may be gone for good. Nothing waits for it for ever, and
// nothing that may still run is started a second time: who is not heard stops before others go on.
#include <doctest/doctest.h>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const Duration kLost = lost_after(Timers{});

NodeId agent(std::uint32_t a) { return agent_node(AgentId{a}); }

/// Three partitions of four GPUs; job 1 is a gang of eight, homed at agent 0, that runs until it is
/// stopped.
struct Gang {
  Gang() : flock({.agents = 3, .servers = 3, .delay = 1ms, .lossy = true}) {
    flock.submit(1, 8, 0s, 0);
    flock.run_for(10s);
    REQUIRE(flock.processes() == 2);
    REQUIRE(flock.agent(0).home.jobs.at(JobId{0, 1}).stage() == Stage::running);
    for (std::uint32_t a = 0; a < 3; ++a) {
      if (flock.agent(a).owner.ledger.held_count() > 0) (a == 0 ? here : there) = a;
    }
    if (here != 0) here = there == 1 ? 2 : 1;
  }
  [[nodiscard]] Stage stage() const { return flock.agent(0).home.jobs.at(JobId{0, 1}).stage(); }
  TestFlock flock;
  std::uint32_t here = 9, there = 9;  // two partitions that run it; `there` is not its home's
};

TEST_CASE("silence is counted longer by the owner that waits than by the executor that runs") {
  CHECK(kLost > 300s + 10s);
  CHECK(kLost < 400s);
  Timers ideal;
  ideal.orphan = Duration::max();
  CHECK(lost_after(ideal) == Duration::max());
}

TEST_CASE("a gang runs on, however short the silence is that would end it") {
  TestFlock flock({.agents = 3, .servers = 3, .delay = 1ms, .lossy = true, .orphan = 6s});
  flock.submit(1, 8, 0s, 0);
  flock.run_for(2min);
  CHECK(flock.launches() == 2);
  CHECK(flock.processes() == 2);
}

TEST_CASE("an owner that dies for good: its executors stop, its home goes on without it") {
  Gang g;
  g.flock.crash_agent(g.there);
  g.flock.run_for(290s);
  CHECK(g.flock.processes() == 2);
  g.flock.run_for(30s);
  CHECK(g.flock.processes() == 1);
  CHECK(g.stage() == Stage::running);
  g.flock.run_for(kLost - 330s);
  CHECK(g.flock.launches() == 2);
  g.flock.run_for(5min);
  CHECK(g.flock.launches() == 4);
  CHECK(g.flock.processes() == 2);  // on the two others
  CHECK(g.stage() == Stage::running);
  CHECK(g.flock.faults().empty());
}

TEST_CASE("an executor that restarts unheard goes on counting") {
  for (const bool long_run : {false, true}) {
    TestFlock flock({.lossy = true});
    flock.submit(1, 1, 0s);
    flock.run_for(long_run ? 100s : 5s);
    REQUIRE(flock.processes() == 1);
    flock.crash_agent(0);
    for (int restarts = 0; restarts < 12; ++restarts) {
      flock.run_for(20s);
      flock.restart_executor(0);
    }
    CHECK(flock.processes() == 1);  // 240 s of silence
    flock.run_for(85s);
    CHECK(flock.processes() == 0);
    flock.restart_agent(0);
    flock.run_for(30s);
    CHECK(flock.processes() == 1);  // the next attempt
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("a draining attempt does not wait for ever either, and a cancelled job is cancelled") {
  Gang g;
  g.flock.crash_agent(g.there);
  g.flock.cancel(1);
  g.flock.run_for(30s);
  CHECK(g.stage() == Stage::draining);
  g.flock.run_for(kLost);
  CHECK(g.flock.phase(1) == JobPhase::cancelled);
  CHECK(g.flock.processes() == 0);
  g.flock.restart_agent(g.there);
  CHECK(g.flock.settle(1min));
  CHECK(g.flock.faults().empty());
}

TEST_CASE("a part that had ended is not waited for either once its owner is gone") {
  Gang g;
  const AttemptId attempt = g.flock.agent(0).home.jobs.at(JobId{0, 1}).attempt()->id;
  g.flock.inject(0, agent(g.there), Exited{attempt, PartitionId{g.there}, {}, 1s});
  g.flock.crash_agent(g.there);
  g.flock.run_for(kLost + 1min);
  CHECK(g.stage() == Stage::running);
  g.flock.cancel(1);
  g.flock.run_for(1min);
  CHECK(g.flock.phase(1) == JobPhase::cancelled);
  CHECK(g.flock.faults().empty());
}

TEST_CASE("a machine that dies for good: quarantined, and the job runs elsewhere") {
  Gang g;
  g.flock.crash_executor(g.there);
  g.flock.run_for(kLost - 5s);
  CHECK(g.stage() == Stage::running);
  g.flock.run_for(3min);
  CHECK(g.stage() == Stage::running);
  CHECK(g.flock.processes() == 2);
  const Ledger& ledger = g.flock.agent(g.there).owner.ledger;
  CHECK(ledger.quarantined_count() == 4);
  CHECK(ledger.held_count() == 0);
  CHECK(g.flock.faults().empty());
}

TEST_CASE("a machine that comes back with nothing running is known to have died at once") {
  Gang g;
  g.flock.crash_executor(g.there);
  g.flock.run_for(20s);
  g.flock.restart_executor(g.there);
  g.flock.run_for(1min);
  CHECK(g.stage() == Stage::running);
  CHECK(g.flock.launches() >= 4);
  CHECK(g.flock.faults().empty());
}

TEST_CASE("however home, owner and executor are cut from one another, one attempt runs at most") {
  std::uint64_t sample = 0;
  for (int who = 0; who < 8; ++who) {
    for (const Duration second : {Duration(0s), Duration(100s), Duration(250s), Duration(299s)}) {
      if (!is_sampled(sample++ + static_cast<std::uint64_t>(who))) continue;
      CAPTURE(who);
      Gang g;
      const NodeId home = agent(0), owner = agent(g.there);
      const NodeId executor = executor_node(g.there);
      if (who % 4 != 2) g.flock.cut(home, owner);
      if (who % 4 != 1) g.flock.cut(owner, home);
      g.flock.run_for(second);
      if (who / 4 == 0) g.flock.cut(owner, executor);
      if (who % 4 != 3) g.flock.cut(executor, owner);
      g.flock.run_for(25min);
      CHECK(g.flock.faults().empty());
      CHECK(g.flock.processes() == 2);
      CHECK(g.stage() == Stage::running);
      g.flock.heal();
      g.flock.cancel(1);
      CHECK(g.flock.settle(10min));
      CHECK(g.flock.faults().empty());
    }
  }
}

TEST_CASE("cuts and restarts of the owner or the executor in between give no second life") {
  for (int who = 0; who < 3; ++who) {
    CAPTURE(who);
    Gang g;
    g.flock.cut_off(agent(0), agent(g.there));
    g.flock.run_for(200s);
    if (who != 1) {
      g.flock.crash_agent(g.there);
      g.flock.restart_agent(g.there, who == 2);
    }
    if (who == 2) g.flock.cut_off(agent(g.there), executor_node(g.there));
    g.flock.run_for(20min);
    CHECK(g.flock.faults().empty());
    CHECK(g.flock.processes() == 2);
  }
}

TEST_CASE("a home that is gone for good: what it held elsewhere is let go") {
  Gang g;
  g.flock.crash_agent(0);
  g.flock.run_for(290s);
  CHECK(g.flock.processes() == 2);
  g.flock.run_for(1min);
  CHECK(g.flock.agent(g.there).owner.ledger.held_count() == 0);
  CHECK(g.flock.agent(g.there).owner.ledger.free_count() == 4);
  g.flock.restart_agent(0);
  g.flock.run_for(2min);
  CHECK(g.stage() == Stage::running);
  CHECK(g.flock.faults().empty());
}

TEST_CASE("a home that is there goes on for ever, through restarts of all") {
  Gang g;
  for (int i = 0; i < 8; ++i) {
    g.flock.run_for(4min);
    g.flock.crash_agent(static_cast<std::uint32_t>(i % 3));
    g.flock.run_for(1min);
    g.flock.restart_agent(static_cast<std::uint32_t>(i % 3), i % 2 == 0);
  }
  g.flock.run_for(1min);
  CHECK(g.stage() == Stage::running);
  CHECK(g.flock.launches() == 2);
  CHECK(g.flock.faults().empty());
}

TEST_CASE("a lost ledger and a remote home that is gone, too: the job does not run for ever") {
  Gang g;
  g.flock.crash_agent(0);
  g.flock.crash_agent(g.there);
  g.flock.lose_journal(g.there);
  g.flock.restart_agent(g.there);
  g.flock.run_for(20s);
  CHECK(g.flock.agent(g.there).owner.ledger.held_count() == 4);
  g.flock.run_for(6min);
  CHECK(g.flock.agent(g.there).owner.ledger.held_count() == 0);
  CHECK(g.flock.agent(g.there).owner.ledger.free_count() == 4);
}

TEST_CASE("a home says not_ready of what it does not know before its executors have spoken") {
  TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
  flock.run_for(1s);
  flock.crash_agent(0);
  flock.lose_next("InventoryRequest", 2);
  flock.restart_agent(0);
  const AttemptQuery query{{JobId{0, 77}, Epoch{1}, 1}, PartitionId{1}, 5};
  flock.tell(agent(1), agent(0), query);
  flock.run_for(10ms);
  const auto said = [&](const std::string& what) {
    for (const std::string& line : flock.take_transcript()) {
      if (line.find(what) != line.npos) return true;
    }
    return false;
  };
  CHECK(said("not ready"));
  flock.run_for(5s);
  flock.tell(agent(1), agent(0), query);
  flock.run_for(10ms);
  CHECK(said("dead"));
}

TEST_CASE("what follows a drain survives a restart of the home") {
  for (const bool compacted : {false, true}) {
    CAPTURE(compacted);
    TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
    flock.submit(1, 4, 0s, 0);
    flock.submit(2, 4, 20s, 1);
    flock.set_exit_code(2, 3);
    flock.run_for(5s);
    flock.lose_next("Kill", 2);
    flock.cancel(1);
    flock.run_for(50ms);
    REQUIRE(flock.agent(0).home.jobs.at(JobId{0, 1}).stage() == Stage::draining);
    flock.crash_agent(0);
    flock.restart_agent(0, compacted);
    CHECK(flock.settle(2min));
    CHECK(flock.phase(1) == JobPhase::cancelled);
    CHECK(flock.phase(2) == JobPhase::failed);
    CHECK(flock.launches() == 2);
  }
}

TEST_CASE("how long a job has waited survives restarts of its home") {
  TestFlock flock({.servers = 1, .delay = 1ms, .lossy = true});
  flock.submit(1, 4, 0s);
  flock.submit(2, 4, 5s);
  flock.run_for(100s);
  flock.crash_agent(0);
  flock.run_for(50s);
  flock.restart_agent(0, true);
  flock.run_for(50s);
  flock.crash_agent(0);
  flock.restart_agent(0, false);
  flock.run_for(10s);
  flock.cancel(1);
  CHECK(flock.settle(1min));
  const JobState& second = flock.agent(0).home.remembered.ended.at(JobId{0, 2});
  CHECK(second.queued >= 205s);
  CHECK(second.queued <= 220s);
  CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 1}).queued < 2s);
}

}  // namespace
}  // namespace starling
