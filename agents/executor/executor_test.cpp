// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/executor/scripted_executor_test.h"

using namespace starling;
using namespace std::chrono_literals;

// The executor is the last line: what it refuses cannot happen on a GPU. Each test states one way
// in which two processes could meet on a GPU, or an end could be lost.
TEST_CASE("a journal of another topology is refused before it is believed") {
  ScriptedExecutor f;
  f.hear(launch(1, {2, 3, 4, 5}));
  CHECK(fits_journal(f.config(1s), f.topology, f.journal).ok());
  GeneratorOptions smaller;
  smaller.servers = 3;
  smaller.gpus_per_server = 1;
  const Status fits = fits_journal(f.config(1s), generate_flat(smaller).value(), f.journal);
  REQUIRE_FALSE(fits.ok());
  CHECK(fits.error().message.find("topology") != std::string::npos);
}

TEST_CASE("a topology with fewer servers than an executor serves is refused, whatever it ran") {
  ScriptedExecutor f;
  for (std::uint32_t servers = 1; servers <= 6; ++servers) {
    GeneratorOptions shape;
    shape.servers = servers;
    shape.gpus_per_server = 1;
    const Status fits = fits_journal(f.config(1s), generate_flat(shape).value(), {});
    CHECK(fits.ok() == (servers >= f.config(1s).servers.last));
  }
  ExecutorConfig nothing = f.config(1s);
  nothing.servers = {2, 2};
  CHECK_FALSE(fits_journal(nothing, f.topology, {}).ok());
}

TEST_CASE("a launch is durable, then runs one part per server with contiguous ranks") {
  ScriptedExecutor f;
  Launch gang = launch(1, {2, 3, 4, 5, 6});
  gang.gang.insert(gang.gang.begin(), Share{PartitionId{1}, {GpuId{8}, GpuId{9}}});
  const ExecutorOutput& out = f.hear(gang);
  CHECK(std::holds_alternative<ProcessLaunching>(out.persist.at(0)));
  REQUIRE(out.run.size() == 2);
  const auto& first = std::get<LaunchSpec>(out.run[0]);
  const auto& second = std::get<LaunchSpec>(out.run[1]);
  CHECK(first.gpus == Placement{GpuId{2}, GpuId{3}});
  CHECK(first.first_rank == 0);
  CHECK(second.server == ServerId{1});
  CHECK(second.first_rank == 2);
  CHECK(second.local_workers == 3);
  CHECK(f.said<LaunchResult>()->ok);
}

TEST_CASE("a repeated launch gets its result again and starts nothing") {
  ScriptedExecutor f;
  f.hear(launch(1, {0}));
  const ExecutorOutput& again = f.hear(launch(1, {0}));
  CHECK(again.run.empty());
  CHECK(again.persist.empty());
  CHECK(f.said<LaunchResult>()->ok);
}

TEST_CASE("a busy, foreign, unordered or unknown GPU is refused, and the refusal is final") {
  Launch other_gang = launch(2, {2});
  other_gang.gang = {{PartitionId{0}, {GpuId{3}}}};
  for (const Launch& bad : {launch(2, {1}), launch(2, {8}), launch(2, {3, 2}), launch(2, {}),
                            launch(2, {4000}), other_gang}) {
    ScriptedExecutor g;
    g.hear(launch(1, {0, 1}));
    CHECK(g.hear(bad).run.empty());
    CHECK_FALSE(g.said<LaunchResult>()->ok);
    CHECK_FALSE(g.said<LaunchResult>()->reason.empty());
    g.step(at(2s), ended(1, 0));
    CHECK(g.hear(launch(2, {1})).run.empty());
  }
}

TEST_CASE("a Launch without GPUs is refused with why") {
  ScriptedExecutor f;
  f.hear(launch(1, {}));
  CHECK(f.said<LaunchResult>()->reason == "no GPU is named");
}

TEST_CASE("where no tombstone can be added nothing is launched, until the oldest is of no use") {
  ScriptedExecutor f(Duration::max(), {}, 1, 2);
  f.hear(kill(1));
  f.hear(kill(2));
  f.hear(launch(3, {0}));
  CHECK_FALSE(f.said<LaunchResult>()->ok);
  CHECK(f.said<LaunchResult>()->reason == "too many attempts have ended here lately");
  CHECK(f.out.persist.empty());
  CHECK(f.hear(launch(1, {0})).run.empty());
  CHECK(f.hear(launch(3, {0}), 5min).run.size() == 1);
}

TEST_CASE("what a journal says of the end of what it does not know is passed over") {
  const ExitStatus failed{3, false, {}}, late{0, true, "too late"};
  const std::vector<Record> journal = {
      ProcessLaunching{launch(1, {8})},  // of another topology
      ProcessStopping{attempt(1), late}, ProcessExited{attempt(1), late, 9s},
      ProcessLaunching{launch(2, {0})},  ProcessExited{attempt(2), failed, 7s},
      ProcessStopping{attempt(2), late}, ProcessExited{attempt(2), late, 9s}};
  ScriptedExecutor f(Duration::max(), journal);
  REQUIRE(f.executor.state().runs.size() == 1);
  const Run& run = f.executor.state().runs.at(attempt(2));
  CHECK(run.phase == Run::Phase::exited);
  CHECK(run.exit.code == 3);
  CHECK(run.served == 7s);
  CHECK(f.executor.state().unheard == 1);
}

TEST_CASE("two attempts share a GPU where they may, also after a restart; a third is refused") {
  ScriptedExecutor f(Duration::max(), {}, 2);
  CHECK(f.hear(launch(1, {0, 1})).run.size() == 1);
  CHECK(f.hear(launch(2, {1, 2})).run.size() == 1);
  ScriptedExecutor again(Duration::max(), f.journal, 2);
  CHECK(again.hear(launch(3, {1})).run.empty());
  CHECK_FALSE(again.said<LaunchResult>()->ok);
  CHECK(again.hear(launch(4, {0})).run.size() == 1);
  again.step(at(2s), ended(2, 0));
  CHECK(again.hear(launch(5, {1})).run.size() == 1);
}

TEST_CASE("killed is said only when every part is gone; a late launch stays refused") {
  ScriptedExecutor f;
  f.hear(launch(1, {3, 4}));
  const ExecutorOutput& stop = f.hear(kill(1));
  REQUIRE(stop.run.size() == 1);
  CHECK(std::get<StopSpec>(stop.run[0]).attempt == attempt(1));
  CHECK(f.said<Killed>() == nullptr);
  f.step(at(2s), ended(1, 0, -15, 9s));
  CHECK(f.said<Killed>() == nullptr);
  CHECK_FALSE((f.hear(launch(2, {4})), f.said<LaunchResult>()->ok));
  f.step(at(3s), ended(1, 1, -15, 4s));
  REQUIRE(f.said<Killed>() != nullptr);
  CHECK(f.said<Killed>()->served == 4s);
  CHECK(f.said<Exited>() == nullptr);
  CHECK(f.hear(launch(1, {3, 4})).run.empty());
  f.hear(kill(1));
  CHECK(f.said<Killed>()->served == 4s);
}

TEST_CASE("a kill that overtakes its launch leaves a tombstone that survives a restart") {
  ScriptedExecutor f;
  f.hear(kill(1));
  CHECK(f.said<Killed>() != nullptr);
  ScriptedExecutor next(Duration::max(), f.journal);
  CHECK(next.hear(launch(1, {0})).run.empty());
}

TEST_CASE("epochs only rise, durably; a deposed owner is told and not obeyed") {
  ScriptedExecutor f;
  CHECK(std::holds_alternative<EpochSeen>(f.hear(launch(1, {0}, 6)).persist.at(0)));
  CHECK(f.hear(launch(2, {1}, 5)).run.empty());
  CHECK(f.said<Fenced>()->epoch == Epoch{6});
  CHECK(f.hear(kill(1, 5)).run.empty());
  ScriptedExecutor next(Duration::max(), f.journal);
  CHECK(next.hear(launch(3, {2}, 5)).run.empty());
  CHECK(next.said<Fenced>() != nullptr);
}

TEST_CASE("no agent but the owner is obeyed, whatever epoch it claims") {
  ScriptedExecutor f;
  CHECK(f.hear(launch(1, {0}, 99), 1s, kStranger).run.empty());
  CHECK(f.out.send.empty());
  CHECK(f.executor.state().epoch == Epoch{5});
  CHECK(f.executor.state().refused_frames == 1);
}

TEST_CASE("one failing part stops the others; the end is told once whole, until acknowledged") {
  ScriptedExecutor f;
  f.hear(launch(1, {3, 4}));
  CHECK(std::holds_alternative<StopSpec>(f.step(at(2s), ended(1, 1, 3)).run.at(0)));
  CHECK(f.said<Exited>() == nullptr);
  f.step(at(3s), ended(1, 0, -15));
  REQUIRE(f.said<Exited>() != nullptr);
  CHECK(f.said<Exited>()->exit.code == 3);
  CHECK(std::holds_alternative<ProcessExited>(f.out.persist.at(0)));

  Instant due = f.executor.next_deadline();
  CHECK(due == at(3100ms));
  f.step(due, Tick{});
  CHECK(f.said<Exited>() != nullptr);
  CHECK(f.executor.next_deadline() == due + 200ms);
  f.hear(ExitedAck{attempt(1), PartitionId{0}}, 4s);
  CHECK(f.executor.next_deadline() == kNever);
  CHECK(f.hear(launch(1, {3, 4})).run.empty());
}

TEST_CASE("the inventory names what runs and what ended unheard") {
  ScriptedExecutor f;
  f.hear(launch(1, {0}));
  f.hear(launch(2, {1}));
  f.step(at(2s), ended(2, 0, 4));
  f.hear(InventoryRequest{{PartitionId{0}, Epoch{7}}});
  const auto* inventory = f.said<Inventory>();
  REQUIRE(inventory != nullptr);
  CHECK(inventory->fence.epoch == Epoch{7});
  REQUIRE(inventory->items.size() == 2);
  CHECK_FALSE(inventory->items[0].exited);
  CHECK(inventory->items[1].exited);
  CHECK(inventory->items[1].exit.code == 4);
}

TEST_CASE("a new life still counts old processes until their end is known, and retells old ends") {
  ScriptedExecutor f;
  f.hear(launch(1, {0}));
  f.hear(launch(2, {1}));
  f.step(at(2s), ended(2, 0, 4));
  for (const bool compacted : {false, true}) {
    CAPTURE(compacted);
    ExecutorConfig config = ScriptedExecutor::config(Duration::max());
    Executor next(config, f.topology, compacted ? f.executor.snapshot() : f.journal);
    ExecutorOutput out;
    next.step(at(0s), Tick{}, out);
    CHECK(std::any_of(out.send.begin(), out.send.end(),
                      [](const Send& s) { return std::holds_alternative<Exited>(s.message); }));
    REQUIRE(next.running().size() == 1);
    CHECK(next.running()[0].attempt == attempt(1));
    out.clear();
    next.step(at(0s), Received{kOwner, launch(3, {0})}, out);
    CHECK(out.run.empty());
    out.clear();
    next.step(at(0s), Exit{attempt(1), ServerId{0}, {0, true, {}}, 0s}, out);
    CHECK(std::get<Exited>(out.send.at(0).message).exit.lost);
    CHECK(next.running().empty());
  }
}

TEST_CASE("why an attempt is stopped survives the executor: an end by force is not its job's") {
  const auto fails = [](ScriptedExecutor& f) { f.step(at(2s), ended(1, 1, 3)); };
  const auto killed = [](ScriptedExecutor& f) { f.hear(kill(1), 2s); };
  const auto orphaned = [](ScriptedExecutor& f) { f.step(at(302s), Tick{}); };
  for (const auto& [stop, code, lost] :
       {std::tuple<void (*)(ScriptedExecutor&), int, bool>{fails, 3, false},
        {killed, 0, true},
        {orphaned, 0, true}}) {
    for (const bool compacted : {false, true}) {
      CAPTURE(code);
      CAPTURE(compacted);
      ScriptedExecutor f(500ms);
      f.hear(launch(1, {3, 4}));
      stop(f);
      REQUIRE(f.executor.state().runs.at(attempt(1)).phase == Run::Phase::stopping);
      Executor next(ScriptedExecutor::config(500ms), f.topology,
                    compacted ? f.executor.snapshot() : f.journal);
      ExecutorOutput out;
      next.step(at(0s), Tick{}, out);
      CHECK(std::any_of(out.run.begin(), out.run.end(),
                        [](const auto& order) { return std::holds_alternative<StopSpec>(order); }));
      next.step(at(1s), ended(1, 0, -9), out);
      out.clear();
      next.step(at(1s), Exit{attempt(1), ServerId{1}, {0, true, {}}, 0s}, out);
      const auto told = std::find_if(out.send.begin(), out.send.end(), [](const Send& s) {
        return std::holds_alternative<Exited>(s.message);
      });
      REQUIRE(told != out.send.end());
      CHECK(std::get<Exited>(told->message).exit.code == code);
      CHECK(std::get<Exited>(told->message).exit.lost == lost);
    }
  }
}
