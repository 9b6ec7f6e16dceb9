// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/executor/scripted_executor_test.h"

using namespace starling;
using namespace std::chrono_literals;

// What an executor and its owner hear of each other over time, and what silence means.
TEST_CASE("an owner that does not work with an executor is greeted until it does") {
  ScriptedExecutor f;
  CHECK(f.executor.state().hello == kNever);
  f.hear(Goodbye{"agent 0 has read another topology"});
  CHECK_FALSE(f.executor.state().welcomed);
  const Instant next = f.executor.state().hello;
  REQUIRE(next < at(1min));
  f.hear(Goodbye{"again"}, 1001ms);
  CHECK(f.executor.state().hello == next);
  f.step(next, Tick{});
  CHECK(f.said<Hello>() != nullptr);
  f.hear(Welcome{{PartitionId{0}, Epoch{5}}}, 2s);
  CHECK(f.executor.state().hello == kNever);
}

TEST_CASE("with heartbeats, a silent owner loses its jobs; without, silence means nothing") {
  ScriptedExecutor live(500ms);
  live.hear(launch(1, {0}));
  CHECK(live.step(at(300s), Tick{}).run.empty());
  CHECK(std::holds_alternative<StopSpec>(live.step(at(302s), Tick{}).run.at(0)));
  live.step(at(303s), ended(1, 0, -15));
  CHECK(live.said<Exited>()->exit.lost);

  ScriptedExecutor ideal;
  ideal.hear(launch(1, {0}));
  CHECK(ideal.executor.next_deadline() == kNever);
  CHECK(ideal.step(at(9000s), Tick{}).run.empty());
}

TEST_CASE(
    "a Launch that waited while the executor was not run lasts no longer than its owner waits") {
  const Timers timers;
  ScriptedExecutor f(500ms);
  f.step(at(1s), Tick{});
  const auto* ping = f.said<Ping>();
  REQUIRE(ping != nullptr);
  f.hear(Pong{ping->sequence}, 1s);  // the last that its owner hears of it
  SUBCASE("not for long: the rest of the time is left") {
    f.hear(launch(1, {0}), 200s);
    REQUIRE(f.out.run.size() == 1);
    CHECK(std::get<LaunchSpec>(f.out.run[0]).until == at(1s + timers.late + timers.orphan));
  }
  SUBCASE("longer than its owner has patience: not started, and without a word") {
    f.hear(launch(1, {0}), 500s);
    CHECK(f.out.run.empty());
    CHECK(f.out.persist.empty());
    CHECK(f.said<LaunchResult>() == nullptr);
    f.step(at(501s), Tick{});
    ping = f.said<Ping>();
    REQUIRE(ping != nullptr);
    f.hear(Pong{ping->sequence}, 501s);
    f.hear(launch(1, {0}), 502s);  // it still wants it
    CHECK(f.out.run.size() == 1);
  }
}

TEST_CASE("the launcher is told until when a part may live, whatever becomes of the executor") {
  ScriptedExecutor f(500ms);
  f.hear(launch(1, {0}), 2s);
  const auto& start = std::get<LaunchSpec>(f.out.run.at(0));
  CHECK(start.until == at(302s));
  CHECK(start.grace == Timers{}.kill_grace);
  CHECK(f.step(at(2500ms), Tick{}).run.empty());  // nothing new
  f.step(at(60s), Tick{});                        // the owner is silent: it is pinged
  const Ping* ping = f.said<Ping>();
  REQUIRE(ping != nullptr);
  const auto renewed = f.hear(Pong{ping->sequence}, 90s).run;
  REQUIRE(renewed.size() == 1);
  CHECK(std::get<RenewSpec>(renewed[0]).until == at(360s));  // from the ping, not from the answer
  SUBCASE("a stop is not renewed") {
    f.hear(kill(1), 92s);
    CHECK(f.step(at(400s), Tick{}).run.empty());
  }
  SUBCASE("the next life says it again") {
    ScriptedExecutor next(500ms, f.journal);
    next.step(at(1s), Tick{});
    CHECK(std::get<RenewSpec>(next.out.run.at(0)).attempt == attempt(1));
  }
  ScriptedExecutor ideal;
  ideal.hear(launch(1, {0}));
  CHECK(std::get<LaunchSpec>(ideal.out.run.at(0)).until == kNever);
}

TEST_CASE("progress leaves at most once per heartbeat") {
  ScriptedExecutor f(500ms);
  f.hear(launch(1, {0}));
  f.step(at(1000ms), Tick{});
  f.step(at(1100ms), Progress{attempt(1), 1s, 0.5});
  CHECK(f.said<Progress>() == nullptr);
  f.step(at(1200ms), Progress{attempt(1), 2s, 0.5});
  f.step(at(1500ms), Tick{});
  CHECK(std::count_if(f.out.send.begin(), f.out.send.end(), [](const Send& s) {
          return std::holds_alternative<Progress>(s.message);
        }) == 1);
  CHECK(f.said<Progress>()->served == 2s);
}

TEST_CASE(
    "an owner that speaks is pinged now and then, a silent one at each beat, a strange one never") {
  const auto pings = [](ScriptedExecutor& f, bool speaks) {
    int sent = 0;
    for (Duration t = 1s; t < 21s; t += 500ms) {
      speaks ? f.hear(Pong{}, t) : f.step(at(t), Tick{});
      sent += f.said<Ping>() != nullptr ? 1 : 0;
    }
    return sent;
  };
  ScriptedExecutor hears(500ms), silence(500ms), parted(500ms);
  const int now_and_then = pings(hears, true);
  CHECK(now_and_then >= 3);
  CHECK(now_and_then <= 5);
  CHECK(pings(silence, false) > 30);
  parted.hear(Goodbye{"agent 0 has read another topology"});
  CHECK(pings(parted, true) == 0);
}

TEST_CASE("what the owner commanded before it knew of this life starts nothing") {
  const Topology topology = ScriptedExecutor::make_topology();
  Executor executor(ScriptedExecutor::config(Duration::max()), topology, {});
  ExecutorOutput out;
  executor.step(at(0s), Tick{}, out);
  out.clear();
  executor.step(at(0s), Received{kOwner, launch(1, {0})}, out);
  CHECK(executor.state().runs.empty());
  CHECK(out.run.empty());
  executor.step(at(0s), Received{kOwner, InventoryRequest{{PartitionId{0}, Epoch{5}}}}, out);
  executor.step(at(0s), Received{kOwner, launch(1, {0})}, out);
  CHECK(executor.state().runs.size() == 1);
}

TEST_CASE("hello is repeated until the owner answers") {
  const Topology topology = ScriptedExecutor::make_topology();
  Executor executor(ScriptedExecutor::config(Duration::max()), topology, {});
  ExecutorOutput out;
  executor.step(at(0s), Tick{}, out);
  CHECK(std::holds_alternative<Hello>(out.send.at(0).message));
  CHECK(executor.next_deadline() == at(100ms));
  executor.step(at(0s), Received{kOwner, Welcome{{PartitionId{0}, Epoch{2}}}}, out);
  CHECK(executor.next_deadline() == kNever);
}
