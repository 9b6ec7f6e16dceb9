// SPDX-License-Identifier: Apache-2.0
// What an executor writes down of its lives and says of its jobs, with and without heartbeats.
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/executor/scripted_executor_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

template <class R>
std::size_t count(const std::vector<Record>& records) {
  return static_cast<std::size_t>(
      std::count_if(records.begin(), records.end(),
                    [](const Record& r) { return std::holds_alternative<R>(r); }));
}

ExecutorConfig with_topology(std::uint64_t topology) {
  ExecutorConfig config = ScriptedExecutor::config(Duration::max());
  config.topology = topology;
  return config;
}

TEST_CASE("which topology a life has read stands in its journal and in its snapshot, if it says") {
  ScriptedExecutor silent, says(with_topology(77));
  CHECK(count<TopologyRead>(silent.journal) == 0);
  CHECK(count<TopologyRead>(silent.executor.snapshot()) == 0);
  CHECK(count<TopologyRead>(says.journal) == 1);
  CHECK(count<TopologyRead>(says.executor.snapshot()) == 1);
  says.hear(launch(1, {2, 3}));
  REQUIRE(says.said<LaunchResult>()->ok);
  const std::vector<Record> snapshot = says.executor.snapshot();
  CHECK(fits_journal(with_topology(77), says.topology, snapshot).ok());
  CHECK_FALSE(fits_journal(with_topology(78), says.topology, snapshot).ok());
}

TEST_CASE("an owner with another topology is not worked with, and that is counted") {
  ScriptedExecutor f(with_topology(77));
  CHECK(f.executor.state().refused_frames == 0);
  f.hear(Welcome{{PartitionId{0}, Epoch{5}}, 78});
  CHECK(f.executor.state().refused_frames == 1);
  CHECK_FALSE(f.executor.state().agreed);
  f.hear(Welcome{{PartitionId{0}, Epoch{5}}, 0});  // does not say
  CHECK(f.executor.state().refused_frames == 1);
  CHECK(f.executor.state().agreed);
}

TEST_CASE("a gang that the topology does not have is refused with its journal") {
  ScriptedExecutor f;
  Launch gang = launch(1, {2, 3});
  gang.spec.workers = 3;
  gang.gang.push_back({PartitionId{1}, {GpuId{11}}});
  f.hear(gang);
  REQUIRE(f.said<LaunchResult>()->ok);
  CHECK(fits_journal(f.config(1s), f.topology, f.journal).ok());
  std::vector<Record> journal = f.journal;
  for (Record& record : journal) {
    if (auto* launching = std::get_if<ProcessLaunching>(&record))
      launching->launch.gang.back().gpus = {GpuId{12}};
  }
  CHECK_FALSE(fits_journal(f.config(1s), f.topology, journal).ok());
}

TEST_CASE("without heartbeats speeds are told as often as reports are due") {
  ExecutorConfig config = ScriptedExecutor::config(Duration::max());
  config.timers.report = 10s;
  ScriptedExecutor f(config);
  f.hear(launch(1, {0}));
  f.step(at(5s), Progress{attempt(1), 5s, 0.5});
  f.step(at(9s), Tick{});
  CHECK(f.said<Progress>() == nullptr);
  CHECK(f.executor.next_deadline() == at(10s));
  f.step(at(10s), Tick{});
  REQUIRE(f.said<Progress>() != nullptr);
  CHECK(f.said<Progress>()->served == 5s);
  f.step(at(20s), Tick{});
  CHECK(f.said<Progress>() == nullptr);  // nothing new was measured
  CHECK(f.executor.next_deadline() == at(30s));
}

TEST_CASE("pings that are never answered are forgotten, the oldest first") {
  ScriptedExecutor f(500ms);
  for (int i = 1; i <= 200; ++i) f.step(at(i * 500ms), Tick{});
  const auto& pinged = f.executor.state().pinged;
  CHECK(pinged.size() == 64);
  CHECK(pinged.back().first == f.executor.state().pings);
}

TEST_CASE("when a job was wanted is written down by a calendar, or not at all") {
  for (const bool calendar : {false, true}) {
    CAPTURE(calendar);
    ExecutorConfig config = ScriptedExecutor::config(500ms);
    if (calendar) config.calendar = 100h;
    ScriptedExecutor f(config);
    f.hear(launch(1, {0}));
    for (int i = 1; i <= 200; ++i) f.step(at(i * 500ms), Tick{});
    CHECK((count<ProcessWanted>(f.journal) > 0) == calendar);
  }
}

TEST_CASE(
    "an executor that stands still from a Launch until its next life was silent all the time") {
  ExecutorConfig config = ScriptedExecutor::config(500ms);
  config.calendar = 100h;
  ScriptedExecutor f(config);
  f.hear(launch(1, {0}), 2s);
  config.calendar = 100h + 182s;
  config.incarnation = Incarnation{2};
  ScriptedExecutor next(config, f.journal);
  CHECK(next.executor.state().runs.at(attempt(1)).since == at(-180s));
  next.step(at(500ms), Tick{});
  REQUIRE(next.out.run.size() == 1);
  CHECK(std::get<RenewSpec>(next.out.run[0]).until == at(120s));
}

TEST_CASE("the next life of an executor knows that its owner's word alone is not enough") {
  for (const bool homed : {false, true}) {
    CAPTURE(homed);
    ExecutorConfig config = ScriptedExecutor::config(500ms);
    config.calendar = 100h;
    ScriptedExecutor f(config);
    f.hear(launch(1, {0}), 2s);
    if (homed) f.hear(AttemptAnswer{attempt(1), AttemptLife::live, 7ULL << 32U, 1s}, 3s);
    config.calendar = 100h + 10s;
    config.incarnation = Incarnation{2};
    ScriptedExecutor next(config, f.journal);
    ScriptedExecutor third(config, next.executor.snapshot());
    for (ScriptedExecutor* life : {&next, &third}) {
      life->step(at(60s), Tick{});  // pings its owner
      const Ping* ping = life->said<Ping>();
      REQUIRE(ping != nullptr);
      life->hear(Pong{ping->sequence}, 61s);
      const Instant until = life->executor.state().runs.at(attempt(1)).until;
      CHECK(until == (homed ? at(1s - 10s + 300s) : at(60s + 300s)));
    }
    if (!homed) continue;
    next.hear(AttemptAnswer{attempt(1), AttemptLife::live, 7ULL << 32U | 1U, 2s}, 62s);
    next.step(at(63s), Tick{});
    CHECK(next.executor.state().runs.at(attempt(1)).until == at(58s + 300s));
  }
}

TEST_CASE("last words go with an inventory as far as there is room, to the last byte") {
  for (const std::size_t size : {100U, 101U}) {
    CAPTURE(size);
    ExecutorConfig config = ScriptedExecutor::config(Duration::max());
    config.limits.frame_bytes = 400;
    ScriptedExecutor f(config);
    f.hear(launch(1, {0}));
    Exit exit = ended(1, 0, 3);
    exit.exit.log_tail = std::string(size, 'x');
    f.step(at(2s), exit);
    f.hear(InventoryRequest{{PartitionId{0}, Epoch{5}}});
    REQUIRE(f.said<Inventory>() != nullptr);
    CHECK(f.said<Inventory>()->items[0].exit.log_tail.size() == (size == 100 ? 100 : 0));
  }
}

}  // namespace
}  // namespace starling
