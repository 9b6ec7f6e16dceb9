// SPDX-License-Identifier: Apache-2.0
// A disk may end anywhere: from every prefix of a journal that a busy flock wrote a core begins its
// next life and goes on. That the flock around it gets to its end is in recovery_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "agents/executor/executor_state.h"
#include "agents/testing/testing.h"
#include "interference/models.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Two homes, gangs over both, a cancelled and a failed job, a refusal, lost frames, and every node
/// down once.
TestFlock busy() {
  TestFlock flock(
      {.agents = 2, .servers = 4, .seed = 5, .delay = 1ms, .jitter = 3ms, .lossy = true});
  for (std::uint64_t n = 1; n <= 8; ++n) {
    flock.submit(n, n % 3 == 0 ? 16 : static_cast<std::uint32_t>(n), 4s, n % 2);
  }
  flock.set_exit_code(4, 3);
  flock.refuse_next_launch();
  flock.lose_next("Started", 2);
  flock.lose_next("Released", 2);
  flock.run_for(3s);
  flock.cancel(5);
  flock.crash_executor(1);
  flock.restart_executor(1);
  flock.run_for(5s);
  for (std::uint32_t a = 0; a < 2; ++a) {
    flock.crash_agent(a);
    flock.run_for(1s);
    flock.restart_agent(a);
    flock.run_for(4s);
  }
  flock.settle(10min);
  CHECK(flock.faults().empty());
  return flock;
}

std::vector<std::string> words(const std::vector<Record>& records) {
  std::vector<std::string> lines;
  for (const Record& record : records) {
    lines.push_back(std::to_string(record.index()) + " " + describe(record));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_CASE("an agent goes on from every prefix of a journal") {
  const TestFlock flock = busy();
  const PolicyRegistry policies = make_policy_registry();
  const std::unique_ptr<SpeedModel> speed = make_flat_speed();
  std::size_t prefixes = 0;
  for (std::uint32_t a = 0; a < 2; ++a) {
    const std::vector<Record>& journal = flock.journal(a);
    AgentConfig config = flock.agent(a).config;
    ++config.incarnation.value;
    const auto agent_of = [&](std::span<const Record> records) {
      return Agent(config, flock.topology(), *speed, policies.make("fifo:queue=skip").value(),
                   Rng(1), records);
    };
    for (std::size_t n = 0; n <= journal.size(); ++n, ++prefixes) {
      CAPTURE(a);
      CAPTURE(n);
      Agent agent = agent_of(std::span(journal).first(n));
      const std::vector<Record> snapshot = agent.snapshot();
      std::string before, after;
      for (const std::string& line : words(snapshot)) before += line + "\n";
      for (const std::string& line : words(agent_of(snapshot).snapshot())) after += line + "\n";
      CHECK(after == before);
      Output out;
      Instant now{1h};
      const auto answer = [&](NodeId from, const Message& message) {
        out.clear();
        agent.step(now, Received{from, message}, out);
      };
      for (int turn = 0; turn < 30; ++turn) {
        out.clear();
        agent.step(now, Tick{}, out);
        now = std::max(now, std::min(agent.next_deadline(), now + 1s));
        if (turn != 10) continue;
        // Nothing of what it remembers runs, and no node knows of it.
        const Fence fence{PartitionId{a}, config.epoch};
        for (const ExecutorServers& executor : config.executors)
          answer(executor.node, Inventory{fence, {}});
        for (const Record& record : std::vector<Record>(snapshot)) {
          const auto* share = std::get_if<ShareCommitted>(&record);
          if (share == nullptr) continue;
          answer(agent_node(share->home), AttemptAnswer{share->attempt, AttemptLife::dead});
        }
      }
      CHECK_FALSE(agent.state().owner.reconciling());
    }
  }
  CHECK(prefixes > 60);
}

TEST_CASE("an executor goes on from every prefix of a journal") {
  const TestFlock flock = busy();
  std::size_t prefixes = 0;
  for (std::uint32_t e = 0; e < 4; ++e) {
    const std::vector<Record>& journal = flock.executor_journal(e);
    ExecutorConfig config = flock.executor_config(e);
    ++config.incarnation.value;
    for (std::size_t n = 0; n <= journal.size(); ++n, ++prefixes) {
      CAPTURE(e);
      CAPTURE(n);
      Executor executor(config, flock.topology(), std::span(journal).first(n));
      const std::vector<Record> snapshot = executor.snapshot();
      CHECK(words(Executor(config, flock.topology(), snapshot).snapshot()) == words(snapshot));
      const Instant now{1h};
      const NodeId owner = agent_node(config.owner);
      ExecutorOutput out;
      for (const LaunchSpec& part : executor.running()) {
        executor.step(now, Exit{part.attempt, part.server, {0, true, "gone"}, {}}, out);
      }
      CHECK(executor.running().empty());
      executor.step(now, Received{owner, InventoryRequest{{config.partition, Epoch{9}}}}, out);
      CHECK(executor.state().epoch == Epoch{9});
      while (!executor.state().runs.empty()) {
        const AttemptId attempt = executor.state().runs.begin()->first;
        executor.step(now, Received{owner, ExitedAck{attempt, config.partition}}, out);
      }
      executor.step(now + 1h, Tick{}, out);
    }
  }
  CHECK(prefixes > 30);
}

}  // namespace
}  // namespace starling
