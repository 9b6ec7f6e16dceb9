// SPDX-License-Identifier: Apache-2.0
// An agent may die between any two instructions. Its next life finds in the journal what is needed
// to go on, and running jobs never notice.
#include <doctest/doctest.h>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

struct Crash {
  std::uint32_t agent;
  std::uint64_t step;
  bool before_sending;
  bool compacted;
};

/// Two homes, gangs over both partitions, a preemption of sorts (a cancel), with one crash. False:
/// nothing crashed.
bool survives(const Crash& crash, bool lossy) {
  TestFlock flock(
      {.agents = 2, .servers = 2, .seed = crash.step, .delay = 1ms, .jitter = 1ms, .lossy = lossy});
  flock.crash_agent_at(crash.agent, crash.step, crash.before_sending);
  flock.submit(1, 8, 10s, 0);
  flock.submit(2, 3, 10s, 0);
  flock.submit(3, 8, 5s, 1);
  flock.submit(4, 2, 30s, 1);
  flock.run_for(4s);
  flock.cancel(4);
  bool crashed = false;
  for (int i = 0; i < 400; ++i) {
    flock.run_for(500ms);
    if (!flock.is_up(crash.agent)) {
      crashed = true;
      flock.run_for(2s);
      flock.restart_agent(crash.agent, crash.compacted);
    }
  }
  CHECK(flock.settle(2h));
  CHECK(flock.faults().empty());
  if (!flock.faults().empty()) MESSAGE(flock.faults().front());
  for (std::uint64_t n = 1; n <= 3; ++n) CHECK(flock.phase(n) == JobPhase::finished);
  CHECK(terminal(flock.phase(4)));
  return crashed;
}

TEST_CASE("a crash after any step, with or without what the step said") {
  for (const bool before_sending : {false, true}) {
    for (std::uint32_t agent = 0; agent < 2; ++agent) {
      std::uint64_t step = 1;
      for (; step < 400; step += kSparse) {
        CAPTURE(agent);
        CAPTURE(step);
        CAPTURE(before_sending);
        if (!survives({agent, step, before_sending, step % 2 == 0}, true)) break;
        if (step > 120) step += 6;  // the rest is heartbeats
      }
      CHECK(step > 60);
    }
  }
}

TEST_CASE("running jobs outlive their owner and their home") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.submit(1, 8, 100s, 0);
  flock.run_for(10s);
  REQUIRE(flock.processes() == 2);
  flock.crash_agent(0);
  flock.crash_agent(1);
  flock.run_for(30s);
  CHECK(flock.processes() == 2);
  flock.restart_agent(0);
  flock.run_for(5s);
  CHECK(flock.agent(0).owner.ledger.held_count() == 4);
  flock.restart_agent(1);
  flock.run_for(5s);
  CHECK(flock.agent(0).home.jobs.at(JobId{0, 1}).stage() == Stage::running);
  CHECK(flock.settle(10min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.launches() == 2);
  CHECK(flock.faults().empty());
}

TEST_CASE("an end that happened while the owner was away is heard of") {
  TestFlock flock({.lossy = true});
  flock.submit(1, 4, 20s);
  flock.run_for(10s);
  flock.crash_agent(0);
  flock.run_for(60s);
  CHECK(flock.processes() == 0);
  flock.restart_agent(0, true);
  CHECK(flock.settle(1min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.launches() == 1);
}

TEST_CASE("no GPU is offered before its executor has spoken at this life") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(1s);
  flock.crash_agent(0);
  flock.restart_agent(0);
  flock.lose_next("Inventory", 3);
  flock.submit(1, 4, 5s, 0);
  flock.step();
  CHECK(flock.agent(0).owner.ledger.free_count() == 0);
  CHECK(flock.agent(0).owner.reconciling());
  CHECK(flock.settle(1min));
  CHECK(flock.faults().empty());
}

TEST_CASE("the snapshot replays to the same durable state") {
  TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms});
  for (std::uint64_t n = 1; n <= 8; ++n)
    flock.submit(n, 1 + static_cast<std::uint32_t>(n), 20s, n % 2);
  flock.run_for(30s);
  TestFlock twin({.agents = 2, .servers = 2, .delay = 1ms});
  for (std::uint32_t a = 0; a < 2; ++a) {
    CAPTURE(a);
    const AgentState& before = flock.agent(a);
    const auto jobs = before.home.jobs.size();
    const auto ended = before.home.remembered.ended.size();
    const auto held = before.owner.ledger.held_count();
    const auto tombstones = before.owner.ledger.tombstones().size();
    flock.crash_agent(a);
    flock.restart_agent(a, true);
    const AgentState& after = flock.agent(a);
    CHECK(after.home.jobs.size() == jobs);
    CHECK(after.home.remembered.ended.size() == ended);
    CHECK(after.owner.ledger.held_count() == held);
    CHECK(after.owner.ledger.tombstones().size() == tombstones);
  }
}

TEST_CASE("crashes, loss and dead machines together") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    TestFlock flock({.agents = 3,
                     .servers = 3,
                     .seed = seed,
                     .delay = 1ms,
                     .jitter = 100ms,
                     .loss = 0.1,
                     .duplication = 0.1,
                     .lossy = true});
    Rng rng(seed, 23);
    for (std::uint64_t n = 1; n <= 12; ++n) {
      flock.submit(n, 1 + rng.below(12), std::chrono::seconds(1 + rng.below(20)), rng.below(3));
      flock.run_for(std::chrono::milliseconds(rng.below(4000)));
      const std::uint32_t who = rng.below(3);
      switch (rng.below(4)) {
        case 0:
          flock.crash_agent(who);
          flock.run_for(std::chrono::milliseconds(rng.below(10'000)));
          flock.restart_agent(who, rng.below(2) == 0);
          break;
        case 1:
          flock.crash_executor(who);
          flock.run_for(std::chrono::milliseconds(rng.below(10'000)));
          flock.restart_executor(who);
          break;
        default:
          break;
      }
    }
    flock.heal();
    CHECK(flock.settle(3h));
    CHECK(flock.faults().empty());
    if (!flock.faults().empty()) {
      MESSAGE(flock.faults().front());
      break;
    }
  }
}

}  // namespace
}  // namespace starling
