// SPDX-License-Identifier: Apache-2.0
// What is said of a job that waits for a round.
#include <doctest/doctest.h>

#include "agents/explain/explain_silence.h"
#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::string round_line(const TestFlock& flock, std::uint64_t job) {
  const std::vector<std::string> lines =
      explain(const_cast<AgentState&>(flock.agent(0)), JobId{0, job}, flock.now());
  for (const std::string& line : lines) {
    if (line.find(" rounds of ") != std::string::npos) return line;
  }
  return {};
}

bool waits(const TestFlock& flock, std::uint64_t job) {
  const auto& jobs = flock.agent(0).home.jobs;
  const auto at = jobs.find(JobId{0, job});
  return at != jobs.end() && at->second.stage() == Stage::waiting;
}

TEST_CASE("a job that waits beside an idle partition is told of the round that gives it away") {
  TestFlock flock(
      {.agents = 2, .servers = 2, .policy = "drf:round=300", .delay = 1ms, .lossy = true});
  flock.run_for(5s);
  for (std::uint64_t n = 1; n <= 4; ++n) flock.submit(n, 1, 2000s);
  for (std::uint64_t n = 6; n <= 9; ++n) flock.submit(n, 1, 2000s, 1);
  flock.run_for(20s);
  flock.submit(5, 1, 10s);
  flock.run_for(5s);
  const std::uint64_t forwards =
      flock.agent(1).counters.forwards + flock.agent(0).counters.forwards;
  for (const auto& [id, job] : flock.agent(1).home.jobs)
    flock.tell(client_node(0), agent_node(AgentId{1}), Cancel{id});
  flock.run_for(5s);
  REQUIRE(flock.agent(1).owner.ledger.free_count() == 4);
  REQUIRE(waits(flock, 5));
  const Duration left = flock.agent(0).deciding.next - flock.now();
  REQUIRE((left > 10s && left <= 300s));
  CHECK(round_line(flock, 5) ==
        "policy drf: decides anew which job has which GPUs in rounds of 300 s, "
        "the next one in " +
            seconds_text(left) +
            "; jobs that have been left to wait go to another partition then, at the latest");
  flock.run_for(left - 5s);
  CHECK(waits(flock, 5));
  flock.run_for(15s);
  CHECK(flock.agent(1).counters.forwards + flock.agent(0).counters.forwards == forwards + 1);
  CHECK_FALSE(waits(flock, 5));
  CHECK(flock.faults().empty());
}

TEST_CASE("a policy without rounds has no such line") {
  TestFlock flock({.servers = 1});
  flock.submit(1, 4, 1000s);
  flock.submit(2, 1, 10s);
  flock.run_for(1s);
  REQUIRE(waits(flock, 2));
  CHECK(round_line(flock, 2).empty());
}

}  // namespace
}  // namespace starling
