// SPDX-License-Identifier: Apache-2.0
// A stopped job keeps what it has done, and no job gets its GPUs before its processes are gone.
#include <doctest/doctest.h>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a short job stops a long one, which goes on where it was") {
  TestFlock flock({.servers = 1, .policy = "srtf"});
  flock.submit(1, 4, 1000s);
  flock.run_for(100s);
  flock.submit(2, 4, 10s);
  flock.run_for(1s);
  CHECK(flock.phase(1) == JobPhase::waiting);
  CHECK(flock.phase(2) == JobPhase::running);
  CHECK(flock.settle(1h));
  CHECK(flock.now() == Instant{} + 1010s);
  const JobState& state = flock.agent(0).home.remembered.ended.at(JobId{0, 1});
  CHECK(state.preemptions == 1);
  CHECK(state.attempts == 2);
  CHECK(state.served == 1000s);
  CHECK(flock.agent(0).counters.preemptions == 1);
  CHECK(flock.faults().empty());
}

TEST_CASE(
    "a job cancelled while it stops for another was not preempted, in memory as in its journal") {
  TestFlock flock({.servers = 1, .policy = "srtf", .delay = 100ms});
  flock.submit(1, 4, 1000s);
  flock.run_for(100s);
  flock.submit(2, 4, 10s);
  flock.run_for(250ms);
  const Job& stopping = flock.agent(0).home.jobs.at(JobId{0, 1});
  REQUIRE(stopping.stage() == Stage::draining);
  REQUIRE(stopping.preemptions == 1);
  flock.inject(0, client_node(1), Cancel{JobId{0, 1}});
  REQUIRE(stopping.stage() == Stage::draining);
  CHECK(stopping.preemptions == 0);
  CHECK(flock.settle(1h));
  CHECK(flock.phase(1) == JobPhase::cancelled);
  CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 1}).preemptions == 0);
  CHECK(flock.faults().empty());
}

TEST_CASE("being stopped for others, however often, is no failure") {
  FlockOptions options{.servers = 1, .policy = "srtf"};
  options.limits.attempts_per_job = 3;
  TestFlock flock(options);
  flock.submit(1, 4, 1000s);
  for (std::uint64_t n = 2; n <= 9; ++n) {
    flock.run_for(20s);
    flock.submit(n, 4, 10s);
  }
  CHECK(flock.settle(1h));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 1}).preemptions == 8);
}

TEST_CASE("preemption survives loss and crashes") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    TestFlock flock({.agents = 2,
                     .servers = 4,
                     .policy = seed % 2 ? "srtf" : "tiresias-las",
                     .seed = seed,
                     .delay = 1ms,
                     .jitter = 50ms,
                     .loss = 0.1,
                     .duplication = 0.1,
                     .lossy = true});
    Rng rng(seed, 31);
    for (std::uint64_t n = 1; n <= 12; ++n) {
      flock.submit(n, 1 + rng.below(8), std::chrono::seconds(5 + rng.below(200)), rng.below(2));
      flock.run_for(std::chrono::milliseconds(rng.below(8000)));
      if (rng.below(5) == 0) {
        const std::uint32_t who = rng.below(2);
        flock.crash_agent(who);
        flock.run_for(1s);
        flock.restart_agent(who);
      }
    }
    flock.heal();
    CHECK(flock.settle(5h));
    CHECK(flock.faults().empty());
    if (!flock.faults().empty()) {
      MESSAGE(flock.faults().front());
      break;
    }
  }
}

}  // namespace
}  // namespace starling
