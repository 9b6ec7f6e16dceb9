// SPDX-License-Identifier: Apache-2.0
// An executor that cannot start processes is no black hole: what fails at once is free at once.
#include <doctest/doctest.h>

#include "agents/explain/explain_ended.h"
#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kJobs = 40;

void submit_all(TestFlock& flock) {
  for (std::uint32_t n = 1; n <= kJobs; ++n) flock.submit(n, 1, 500ms);
}

std::uint32_t in_phase(const TestFlock& flock, JobPhase phase) {
  std::uint32_t count = 0;
  for (std::uint32_t n = 1; n <= kJobs; ++n) count += flock.phase(n) == phase ? 1U : 0U;
  return count;
}

TEST_CASE("forty jobs beside an executor whose starts fail: all finish, and few are sent there") {
  for (const bool lossy : {false, true}) {
    CAPTURE(lossy);
    TestFlock flock({.servers = 4, .gpus_per_server = 2, .lossy = lossy});
    flock.set_starts_fail(0, true);
    submit_all(flock);
    flock.run_for(2s);
    CHECK(status_of(flock.agent(0)).resting == 2);
    CHECK(status_of(flock.agent(0)).quarantined == 2);
    flock.run_for(58s);
    CHECK(in_phase(flock, JobPhase::finished) == kJobs);
    CHECK(flock.launches() < kJobs + 15);
    CHECK(flock.faults().empty());
    const AgentStatus status = status_of(flock.agent(0));
    CHECK(status.failed == 0);
    REQUIRE(status.troubles.size() == 1);
    CHECK(status.troubles[0].starts_with("executor-0 is avoided: "));
    CHECK(status.troubles[0].find("the last: no space left") != std::string::npos);
  }
}

TEST_CASE("an executor that is well again is found to be, by one probe at a time") {
  TestFlock flock({.servers = 2, .gpus_per_server = 4});
  flock.set_starts_fail(0, true);
  for (std::uint32_t n = 1; n <= 20; ++n) flock.submit(n, 1, 100s);
  flock.run_for(30s);
  CHECK(flock.processes() == 4);
  CHECK(flock.agent(0).owner.ledger.resting_count() == 4);
  flock.set_starts_fail(0, false);
  flock.run_for(40s);
  CHECK(flock.processes() == 8);
  CHECK(flock.agent(0).owner.ledger.resting_count() == 0);
  CHECK(status_of(flock.agent(0)).troubles.empty());
  CHECK(flock.settle(30min));
  CHECK(flock.faults().empty());
}

TEST_CASE("what runs at an executor goes on while it rests") {
  TestFlock flock({.servers = 1, .gpus_per_server = 4});
  flock.submit(1, 1, 100s);
  flock.run_for(1s);
  flock.set_starts_fail(0, true);
  for (std::uint32_t n = 2; n <= 5; ++n) flock.submit(n, 1, 1s);
  flock.run_for(98s);
  CHECK(flock.phase(1) == JobPhase::running);
  CHECK(flock.agent(0).home.jobs.at(JobId{0, 1}).attempts == 1);
  flock.run_for(2s);
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

TEST_CASE(
    "a job that no executor can start ends after the known number of attempts, and says why") {
  Limits limits;
  limits.attempts_per_job = 20;
  TestFlock flock({.servers = 2, .limits = limits});
  flock.set_starts_fail(0, true);
  flock.set_starts_fail(1, true);
  flock.submit(1, 1, 1s);
  flock.run_for(10min);
  REQUIRE(flock.phase(1) == JobPhase::failed);
  const JobState& end = flock.agent(0).home.remembered.ended.at(JobId{0, 1});
  CAPTURE(end.exit.log_tail);
  CHECK(end.exit.log_tail.find("given up after 20 attempts") != std::string::npos);
  CHECK(explain_ended(end).front().ends_with(", without an exit code of its own"));
  CHECK(end.exit.log_tail.find("no space left") != std::string::npos);
  CHECK(flock.faults().empty());
}

TEST_CASE(
    "a job that is lost by itself again and again is started ever more rarely, others at once") {
  TestFlock flock({.servers = 1, .gpus_per_server = 4});
  flock.set_lost_after(1, 100ms);
  flock.submit(1, 1, 0s);
  flock.run_for(1min);
  CHECK(flock.launches() > 12);
  CHECK(flock.launches() < 30);
  flock.submit(2, 1, 1s);
  flock.run_for(1100ms);
  CHECK(flock.phase(2) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

TEST_CASE("a job that waits for a resting executor says so") {
  TestFlock flock({.servers = 1, .gpus_per_server = 4});
  flock.set_starts_fail(0, true);
  for (std::uint32_t n = 1; n <= 4; ++n) flock.submit(n, 1, 1s);
  flock.run_for(100ms);
  (void)flock.take_transcript();
  flock.ask(0, Explain{JobId{0, 1}});
  flock.run_for(1ms);
  std::string text;
  for (const std::string& line : flock.take_transcript()) text += line;
  CAPTURE(text);
  CHECK(text.find("executor-0 is avoided: ") != std::string::npos);
}

TEST_CASE("a gang over two partitions: the failing half is avoided, the gang starts elsewhere") {
  TestFlock flock({.agents = 2, .servers = 6, .gpus_per_server = 2, .lossy = true});
  flock.set_starts_fail(0, true);
  flock.submit(1, 8, 10s);
  flock.run_for(5min);
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.faults().empty());
}

}  // namespace
}  // namespace starling
