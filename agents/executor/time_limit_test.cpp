// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/executor/scripted_executor_test.h"
#include "agents/explain/explain_ended.h"
#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

JobSpec limited() {
  JobSpec spec;
  spec.id = JobId{0, 1};
  spec.duration = 10min;
  spec.terms.time_limit = 60s;
  spec.terms.signal = 10, spec.terms.signal_before = 20s;
  return spec;
}

std::ptrdiff_t times_noted(const std::vector<std::string>& lines, const std::string& words) {
  return std::ranges::count_if(
      lines, [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST_CASE(
    "an attempt gets its signal, and is stopped at its limit, whatever becomes of its agent") {
  for (const int what : {0, 1}) {
    CAPTURE(what);
    TestFlock flock({.servers = 2, .lossy = true});
    flock.run_for(1s);
    JobSpec gang = limited();
    gang.workers = 8;
    flock.submit(gang, 0);
    flock.run_for(30s);
    REQUIRE(flock.phase(1) == JobPhase::running);
    CHECK(times_noted(flock.take_transcript(), "gets signal 10") == 0);
    if (what == 1) flock.crash_agent(0);
    flock.run_for(20s);
    CHECK(times_noted(flock.take_transcript(), "gets signal 10") >= 1);
    flock.run_for(50s);
    CHECK(flock.processes() == 0);
    if (what == 1) flock.restart_agent(0);
    CHECK(flock.settle(10min));
    const JobState& over = flock.agent(0).home.remembered.ended.at(JobId{0, 1});
    CHECK(std::string(state_name(over)) == "timeout");
    CHECK(over.exit.timed_out);
    CHECK(explain_ended(over).front().find("stopped at its time limit") != std::string::npos);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("what ran out of time is not tried again, and what ends before is as ever") {
  TestFlock flock({.servers = 1, .lossy = true});
  flock.run_for(1s);
  JobSpec spec = limited();
  spec.terms.retries = 3;
  flock.submit(spec, 0);
  CHECK(flock.settle(5min));
  CHECK(flock.launches() == 1);
  CHECK(flock.phase(1) == JobPhase::failed);
  spec.id = JobId{0, 2};
  spec.duration = 59s;
  flock.submit(spec, 0);
  CHECK(flock.settle(5min));
  CHECK(flock.phase(2) == JobPhase::finished);
}

TEST_CASE("a next life of the executor counts on from what was measured") {
  ScriptedExecutor first;
  Launch limited_launch = launch(1, {0});
  limited_launch.spec.terms = limited().terms;
  first.hear(limited_launch);
  REQUIRE(first.said<LaunchResult>()->ok);
  CHECK(first.executor.next_deadline() == at(41s));
  ScriptedExecutor next(ScriptedExecutor::config(Duration::max()), first.journal);
  next.step(at(2s), Progress{attempt(1), 50s});
  next.step(at(2s), Tick{});
  REQUIRE(next.out.run.size() == 1);
  CHECK(std::get<SignalSpec>(next.out.run.front()).number == 10);
  CHECK(next.executor.next_deadline() == at(12s));
  next.step(at(12s), Tick{});
  REQUIRE(next.out.run.size() == 1);
  CHECK(std::holds_alternative<StopSpec>(next.out.run.front()));
  next.step(at(13s), ended(1, 0, -15));
  REQUIRE(next.said<Exited>() != nullptr);
  CHECK(next.said<Exited>()->exit.timed_out);
  CHECK_FALSE(next.said<Exited>()->exit.lost);
}

}  // namespace
}  // namespace starling
