// SPDX-License-Identifier: Apache-2.0
// What the core refused is told of every policy, whether or not it keeps that itself.
#include <doctest/doctest.h>

#include "agents/home/scripted_home_test.h"
#include "agents/step/step.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::string refusal(const ScriptedHome& home, JobId job) {
  for (const std::string& line :
       explain(const_cast<AgentState&>(home.state()), job, home.state().now)) {
    if (line.find("was refused") != std::string::npos) return line;
  }
  return {};
}

TEST_CASE("a decision that was refused is told until the job starts") {
  ScriptedHome home(2);
  JobSpec once;
  once.workers = 3;
  once.no_requeue = true;
  const JobId runs = home.submit(1, once), waits = home.submit(2, 1);
  REQUIRE(home.decide(Start{runs, range(0, 3)}));
  home.launched();
  CHECK(refusal(home, waits).empty());
  CHECK_FALSE(home.decide(Start{waits, range(2, 3)}));
  home.tick(12s);
  CHECK(refusal(home, waits) ==
        "policy script wanted to start it 12 s ago, and was refused: GPUs, CPUs or memory that "
        "cannot be had");
  CHECK(refusal(home, runs).empty());
  CHECK_FALSE(home.decide(Forward{waits, AgentId{0}}));
  CHECK(refusal(home, waits) ==
        "policy script wanted to give it to another agent 0 s ago, and was refused: it cannot be "
        "offered to that agent, or has been");
  CHECK_FALSE(home.decide(Preempt{runs}));
  CHECK(refusal(home, runs) ==
        "policy script wanted to stop it 0 s ago, and was refused: it may not be stopped and "
        "started again");
  REQUIRE(home.decide(Start{waits, range(3, 4)}));
  CHECK(refusal(home, waits).empty());
}

TEST_CASE("a refusal is told no more of a job that has left the waiting list") {
  ScriptedHome home(2);
  const JobId job = home.submit(1, 2);
  BidRequest turn{{JobId{0, 50}, Epoch{1}, 1}, 4, 1, {}};
  turn.claim_ms = 60'000;
  turn.waited = 1h;
  home.hear(AgentId{1}, turn);
  REQUIRE(home.state().owner.claim);
  CHECK_FALSE(home.decide(Start{job, range(0, 2)}));
  CHECK(refusal(home, job) ==
        "policy script wanted to start it 0 s ago, and was refused: a gang that has waited for "
        "long starts first");
  REQUIRE(home.decide(Forward{job, AgentId{1}}));
  CHECK(refusal(home, job).empty());
}

}  // namespace
}  // namespace starling
