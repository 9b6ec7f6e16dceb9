// SPDX-License-Identifier: Apache-2.0
// A job that asked not to be started again has one attempt, whatever happens.
#include <doctest/doctest.h>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobSpec once(std::uint64_t n, std::uint32_t gpus, Duration duration) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.workers = gpus;
  spec.duration = duration;
  spec.no_requeue = true;
  return spec;
}

const JobState& end_of(TestFlock& flock, std::uint64_t n) {
  return flock.agent(0).home.remembered.ended.at(JobId{0, n});
}

TEST_CASE("it is not stopped for others") {
  for (const char* policy : {"srtf", "tiresias-las", "optimus", "gavel"}) {
    CAPTURE(policy);
    TestFlock flock({.servers = 1, .policy = policy});
    flock.submit(once(1, 4, 100'000s), 0);
    flock.run_for(100s);
    for (std::uint64_t n = 2; n <= 6; ++n) flock.submit(n, 4, 10s);
    flock.run_for(2h);
    CHECK(flock.phase(1) == JobPhase::running);
    CHECK(flock.phase(2) != JobPhase::running);
    CHECK(flock.settle(100h));
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(end_of(flock, 1).attempts == 1);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("its GPUs are promised to no job: others are stopped in its place") {
  for (const char* policy : {"srtf", "tiresias-las"}) {
    for (const bool first : {true, false}) {  // on the one server or on the other
      CAPTURE(policy);
      TestFlock flock({.servers = 2, .policy = policy});
      if (first) flock.submit(once(1, 4, 100'000s), 0);
      flock.submit(2, 4, 100'000s);
      if (!first) flock.submit(once(1, 4, 100'000s), 0);
      flock.run_for(10'000s);
      flock.submit(3, 4, 10s);
      flock.run_for(60s);
      CHECK(flock.phase(3) == JobPhase::finished);
      CHECK(flock.agent(0).counters.preemptions == 1);
      CHECK(flock.settle(100h));
      CHECK(end_of(flock, 1).attempts == 1);
      CHECK(end_of(flock, 2).attempts == 2);
    }
  }
}

TEST_CASE("it fails when what it runs on is taken away, and says why") {
  for (const int restart : {0, 1, 2}) {  // also in a later life, from a journal or a snapshot
    CAPTURE(restart);
    TestFlock flock({.servers = 2});
    flock.submit(once(1, 4, 1000s), 0);
    flock.run_for(10s);
    REQUIRE(flock.phase(1) == JobPhase::running);
    if (restart > 0) {
      flock.crash_agent(0);
      flock.restart_agent(0, restart == 2);
      flock.run_for(5s);
      REQUIRE(flock.phase(1) == JobPhase::running);
    }
    const GpuId gpu = flock.client().find(JobId{0, 1})->state.placement.front();
    flock.ask(0, SetDrain{flock.topology().server_of(gpu), true, true});
    flock.run_for(1min);
    REQUIRE(flock.phase(1) == JobPhase::failed);
    const JobState& state = end_of(flock, 1);
    CHECK(state.attempts == 1);
    CHECK(state.exit.code == 0);
    CHECK(state.exit.log_tail.find("not started again, as it asked (requeue: no): ") == 0);
    CHECK(state.exit.log_tail.find("an operator evicted it") != std::string::npos);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("before its first start it waits and moves as any other") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.submit(1, 4, 50s);
  flock.submit(2, 4, 50s);
  flock.submit(once(3, 4, 10s), 0);
  flock.run_for(1s);
  CHECK(flock.phase(3) != JobPhase::running);
  CHECK(flock.settle(5min));
  CHECK(flock.phase(3) == JobPhase::finished);
}

}  // namespace
}  // namespace starling
