// SPDX-License-Identifier: Apache-2.0
// Whose a job is: the key's, whatever the message says; and who may change what.
#include "agents/asker.h"

#include <doctest/doctest.h>

#include "agents/executor/executor_state.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

const Asker kAnn{"ann", false}, kBob{"bob", false}, kOperator{"olga", true}, kRoot{"root", true};
const NodeId kClient = client_node(7);

JobSpec job_of(std::uint64_t n, const std::string& said) {
  JobSpec spec;
  spec.id = {0, n};
  spec.user = said;
  spec.duration = 10s;
  return spec;
}

/// An agent of its own, and what it answers.
struct Lone {
  TestFlock flock{FlockOptions{}};
  std::unique_ptr<Agent> agent = flock.replayed_agent(0, false);
  Instant now{};

  template <class T>
  std::optional<T> ask(const Message& message, const Asker& by, NodeId from = kClient) {
    Output out;
    now += 1s;
    agent->step(now, Event{Received{from, message, kNewestProtocol, by}}, out);
    for (const Send& send : out.send) {
      if (send.to == from && std::holds_alternative<T>(send.message))
        return std::get<T>(send.message);
    }
    return std::nullopt;
  }
  const JobSpec& spec(std::uint64_t n) { return *agent->state().home.jobs.at({0, n}).spec; }
};

TEST_CASE("a job is of the user behind the key, whatever it says") {
  const auto signed_as = [](const std::string& said, const Asker& by) {
    JobSpec spec = job_of(1, said);
    spec.as_user = true;  // as a client might
    const Status s = sign(spec, by, "");
    return s.ok() ? spec.user + (spec.as_user ? "" : "?") : "refused";
  };
  CHECK(signed_as("root", kAnn) == "ann");
  CHECK(signed_as("", kAnn) == "ann");
  CHECK(signed_as("ann", kOperator) == "olga");
  CHECK(signed_as("", kRoot) == "root");
  CHECK(signed_as("ann", kRoot) == "ann");  // root can become any user
  CHECK(signed_as("ann", {"root", false}) == "refused");
  CHECK(signed_as("", {"root", false}) == "refused");
  CHECK(signed_as("ann", Asker{}) == "ann?");  // a flock that knows no users: a name, and no more
}

TEST_CASE("where executors are one user's, jobs of others are refused with a sentence") {
  JobSpec spec = job_of(1, "");
  CHECK(sign(spec, kAnn, "ann").ok());
  CHECK(spec.as_user);
  const Status other = sign(spec, kBob, "ann");
  REQUIRE(!other.ok());
  CHECK(other.error().message.find("this is a one-user flock: 'ann' brought it up") == 0);
}

TEST_CASE("an agent keeps the proven user, for good") {
  Lone a;
  JobSpec claims = job_of(1, "root");
  claims.as_user = true;
  REQUIRE(a.ask<Accepted>(Submit{claims, kClient}, kAnn));
  CHECK(a.spec(1).user == "ann");
  CHECK(a.spec(1).as_user);
  // Said again with another key it is the same job.
  REQUIRE(a.ask<Accepted>(Submit{claims, kClient}, kBob));
  CHECK(a.spec(1).user == "ann");
  REQUIRE(a.ask<Accepted>(Submit{job_of(2, "label"), kClient}, Asker{}));
  CHECK(a.spec(2).user == "label");
  CHECK(!a.spec(2).as_user);
  // A forwarded job comes from an agent, which has asked.
  JobSpec forwarded = job_of(3, "bob");
  forwarded.as_user = true;
  Submit given{forwarded, kClient};
  given.forwards = 1;
  a.ask<Accepted>(given, Asker{}, agent_node(AgentId{0}));
  CHECK(a.spec(3).user == "bob");
  CHECK(a.spec(3).as_user);
}

TEST_CASE("a refused user is told why, and nothing is kept") {
  Lone a;
  const auto no = a.ask<Rejected>(Submit{job_of(1, ""), kClient}, {"root", false});
  REQUIRE(no);
  CHECK(no->why == Refusal::denied);
  CHECK(no->reason == "only an operator of the flock may run jobs as root");
  CHECK(a.agent->state().home.jobs.empty());
}

TEST_CASE("people cancel their own jobs, operators all") {
  for (const auto& [by, may] : std::vector<std::pair<Asker, bool>>{{kAnn, true},
                                                                   {kBob, false},
                                                                   {kOperator, true},
                                                                   {Asker{}, true},
                                                                   {{"ann", true}, true}}) {
    Lone a;
    REQUIRE(a.ask<Accepted>(Submit{job_of(1, ""), kClient}, kAnn));
    const auto no = a.ask<Rejected>(Cancel{{0, 1}}, by, client_node(8));
    CHECK(no.has_value() == !may);
    CHECK(a.agent->state().home.jobs.contains({0, 1}) == !may);
    if (!no) continue;
    CHECK(no->why == Refusal::denied);
    CHECK(no->reason.find("is of 'ann', and this is the key of 'bob'") != std::string::npos);
  }
}

TEST_CASE("a job of before there were users is for operators to cancel") {
  Lone a;
  REQUIRE(a.ask<Accepted>(Submit{job_of(1, "ann"), kClient}, Asker{}));
  CHECK(a.ask<Rejected>(Cancel{{0, 1}}, kAnn));
  CHECK(!a.ask<Rejected>(Cancel{{0, 1}}, kOperator));
  CHECK(a.agent->state().home.jobs.empty());
}

TEST_CASE("servers are drained by operators; every caller sees all") {
  Lone a;
  REQUIRE(a.ask<Accepted>(Submit{job_of(1, ""), kClient}, kAnn));
  const auto no = a.ask<DrainState>(SetDrain{ServerId{1}, true, true}, kBob);
  REQUIRE(no);
  CHECK(no->why == Refusal::denied);
  CHECK(!a.agent->state().owner.ledger.is_drained(ServerId{1}));
  const auto yes = a.ask<DrainState>(SetDrain{ServerId{1}, true, true}, kOperator);
  REQUIRE(yes);
  CHECK(yes->why == Refusal::unknown);
  CHECK(a.agent->state().owner.ledger.is_drained(ServerId{1}));
  const auto list = a.ask<JobList>(ListJobs{}, kBob);
  REQUIRE(list);
  REQUIRE(list->jobs.size() == 1);
  CHECK(list->jobs.front().ask->user == "ann");
  CHECK(a.ask<Explanation>(Explain{{0, 1}}, kBob));
}

TEST_CASE("the proven user outlives its agent, and reaches the executor") {
  for (const bool compacted : {false, true}) {
    TestFlock flock({.agents = 2, .servers = 4});
    flock.run_for(1s);
    JobSpec spec = job_of(1, "ann");
    spec.gpus_per_worker = 4;
    flock.inject(0, kClient, Submit{spec, kClient}, kAnn);
    flock.submit(spec, 0);  // the machine asks the client how long it lasts
    flock.run_for(1s);
    CHECK(flock.processes() == 1);
    const auto next = flock.replayed_agent(0, compacted);
    REQUIRE(next->state().home.jobs.contains({0, 1}));
    CHECK(next->state().home.jobs.at({0, 1}).spec->as_user);
    bool launched = false;
    for (std::uint32_t e = 0; e < 4; ++e) {
      for (const auto& [attempt, run] : flock.executor(e).runs)
        launched = launched || (run.launch.spec.as_user && run.launch.spec.user == "ann");
    }
    CHECK(launched);
  }
}

}  // namespace
}  // namespace starling
