// SPDX-License-Identifier: Apache-2.0
#include "sim/check/client_history.h"

#include <doctest/doctest.h>

// Reads that go back, each in one of the ways in which a home or a client could do it.

namespace starling {
namespace {

constexpr JobId kJob{0, 7};
const NodeId kHome = agent_node(AgentId{0});

struct Told {
  Told() {
    Submit submit;
    submit.spec.id = kJob;
    history.said(submit);
    JobAccepted accepted;
    accepted.submit.spec.id = kJob;
    write(accepted);
    say(1, Accepted{kJob, AgentId{0}});
  }
  void write(const Record& record, std::uint64_t life = 1) {
    CHECK(history.wrote(kHome, Incarnation{life}, record) == "");
  }
  void start() {
    ++attempts;
    write(AttemptStarting{{kJob, Epoch{1}, attempts}, {}});
  }
  std::string say(std::uint64_t sequence, const Message& message, std::uint64_t life = 1) {
    return history.told(kHome, Incarnation{life}, sequence, message);
  }
  std::string say(std::uint64_t sequence, JobPhase phase, std::uint32_t tries = 1,
                  std::uint64_t life = 1) {
    JobState state;
    state.job = kJob;
    state.phase = phase;
    state.attempts = tries;
    return say(sequence, state, life);
  }
  ClientHistory history;
  std::uint64_t attempts = 0;
};

TEST_CASE("a job's way through two attempts is one story") {
  Told t;
  CHECK(t.say(2, JobPhase::waiting, 0) == "");
  t.start();
  CHECK(t.say(4, JobPhase::running) == "");
  CHECK(t.say(3, JobPhase::starting) == "");  // overtaken
  CHECK(t.say(4, JobPhase::running) == "");   // repeated
  CHECK(t.say(5, JobPhase::draining) == "");
  CHECK(t.say(6, JobPhase::waiting) == "");
  t.start();
  CHECK(t.say(7, JobPhase::starting, 2) == "");
  CHECK(t.say(8, JobPhase::finished, 2) == "");
  CHECK(t.say(9, JobPhase::finished, 2) == "");
}

TEST_CASE("one life of a home goes back") {
  Told t;
  t.start();
  t.start();
  REQUIRE(t.say(5, JobPhase::running, 2) == "");
  SUBCASE("to starting") { CHECK(t.say(6, JobPhase::starting, 2) != ""); }
  SUBCASE("to fewer attempts") { CHECK(t.say(6, JobPhase::running, 1) != ""); }
  SUBCASE("before what came later") { CHECK(t.say(4, JobPhase::draining, 2) != ""); }
  SUBCASE("in a list") {
    JobList list;
    list.jobs.resize(1);
    list.jobs[0].job = kJob;
    list.jobs[0].phase = JobPhase::running;
    list.jobs[0].attempts = 1;
    CHECK(t.say(6, list) != "");
  }
  SUBCASE("from its end") {
    REQUIRE(t.say(6, JobPhase::failed, 2) == "");
    CHECK(t.say(7, JobPhase::running, 2) != "");
  }
}

TEST_CASE("no node says more than is durable") {
  Told t;
  CHECK(t.say(2, JobPhase::running, 1) != "");
  CHECK(t.say(3, JobPhase::running, 0) != "");
}

TEST_CASE("a successor knows what was durable when its life began, and no less") {
  Told t;
  t.start();
  t.start();
  REQUIRE(t.say(5, JobPhase::running, 2) == "");
  SUBCASE("it may not know yet that all had started") {
    CHECK(t.say(1, JobPhase::starting, 2, 2) == "");
  }
  SUBCASE("attempts") { CHECK(t.say(1, JobPhase::running, 1, 2) != ""); }
  SUBCASE("the job itself") { CHECK(t.say(1, JobPhase::unknown, 0, 2) != ""); }
  SUBCASE("its end") {
    JobEnded ended{kJob, {}};
    ended.state.phase = JobPhase::finished;
    t.write(ended);
    CHECK(t.say(6, JobPhase::running, 2) == "");  // said before, by the life that wrote it
    CHECK(t.say(1, JobPhase::running, 2, 2) != "");
  }
  SUBCASE("that it has moved") {
    t.write(JobMoved{kJob, AgentId{1}});
    CHECK(t.say(1, JobPhase::running, 2, 2) != "");
    CHECK(t.say(2, JobPhase::moved, 0, 2) == "");
  }
  SUBCASE("attempts of before it had moved on and come back, it need not know") {
    t.write(JobMoved{kJob, AgentId{1}}, 2);
    JobAccepted again;
    again.submit.spec.id = kJob;
    t.write(again, 2);
    CHECK(t.say(1, JobPhase::waiting, 0, 2) == "");
  }
  SUBCASE("a deposed owner may know less") {
    t.write(AttemptStarting{{kJob, Epoch{2}, 3}, {}}, 2);
    CHECK(t.say(9, JobPhase::running, 2, 1) == "");
  }
}

TEST_CASE("of a job that was never submitted no home knows anything") {
  Told t;
  JobState state;
  state.job = JobId{0, 99};
  state.phase = JobPhase::unknown;
  CHECK(t.say(2, state) == "");
  state.phase = JobPhase::running;
  CHECK(t.say(3, state) == "job " + to_string(state.job) + " has a state and was never submitted");
}

TEST_CASE("the home that had accepted a job does not know it") {
  Told t;
  CHECK(t.say(2, JobPhase::unknown, 0) != "");
}

TEST_CASE("what a client shows goes back") {
  ClientHistory history;
  JobOutcome job;
  job.job = kJob;
  job.accepted = true;
  job.state.phase = JobPhase::running;
  job.state.attempts = 2;
  const auto shows = [&] { return history.shows(client_node(0), {&job, 1}); };
  REQUIRE(shows() == "");
  SUBCASE("nothing new") { CHECK(shows() == ""); }
  SUBCASE("to fewer attempts") {
    job.state.attempts = 1;
    CHECK(shows() != "");
  }
  SUBCASE("to before it was accepted") {
    job.accepted = false;
    job.rejected = true;
    CHECK(shows() != "");
  }
  SUBCASE("from its end") {
    job.state.phase = JobPhase::finished;
    REQUIRE(shows() == "");
    job.state.phase = JobPhase::failed;
    CHECK(shows() != "");
  }
}

TEST_CASE("what a client shows of one job says nothing of another") {
  ClientHistory history;
  std::vector<JobOutcome> jobs(1);
  jobs[0].job = kJob;
  jobs[0].accepted = true;
  jobs[0].state.phase = JobPhase::finished;
  REQUIRE(history.shows(client_node(0), jobs) == "");
  JobOutcome later;
  later.job = JobId{0, 99};
  later.accepted = true;
  later.state.phase = JobPhase::waiting;
  jobs.push_back(later);
  CHECK(history.shows(client_node(0), jobs) == "");
  CHECK(history.shows(client_node(1), {&later, 1}) == "");
  jobs[0].state.phase = JobPhase::running;
  CHECK(history.shows(client_node(0), jobs).find(to_string(kJob)) != std::string::npos);
}

TEST_CASE("what one client was told holds for another, and for one that begins anew") {
  Told t;
  t.start();
  REQUIRE(t.say(5, JobPhase::running) == "");
  JobOutcome shown;
  shown.job = kJob;
  shown.home = AgentId{0};
  shown.accepted = true;
  const NodeId one = client_node(0), other = client_node(1);
  CHECK(t.history.shows(one, {&shown, 1}) == "");
  JobOutcome less = shown;
  less.accepted = false;
  SUBCASE("each shows what it was told itself, and never less than it showed") {
    CHECK(t.history.shows(other, {&less, 1}) == "");
    CHECK(t.history.shows(one, {&less, 1}) != "");
  }
  SUBCASE("a client that begins anew may show less") {
    t.history.began(one);
    CHECK(t.history.shows(one, {&less, 1}) == "");
  }
  SUBCASE("and its home may not tell any client less") {
    t.history.began(one);
    CHECK(t.say(6, JobPhase::starting) != "");
    CHECK(t.say(7, JobPhase::unknown) != "");
    CHECK(t.say(8, Rejected{kJob, Refusal::invalid, ""}) != "");
  }
}

TEST_CASE("a refusal holds as long as the servers are the same, an acceptance for good") {
  Told t;
  const Rejected refused{kJob, Refusal::never_fits, ""};
  SUBCASE("the same servers") {
    t.write(LifeBegan{Incarnation{2}, Epoch{1}}, 2);
    CHECK(t.say(1, refused, 2) != "");
  }
  SUBCASE("others: it had been accepted") {
    t.history.servers_changed();
    t.write(LifeBegan{Incarnation{2}, Epoch{1}}, 2);
    CHECK(t.say(1, refused, 2) != "");
  }
  SUBCASE("others: it had been refused, and that comes late") {
    Submit submit;
    submit.spec.id = JobId{0, 8};
    t.history.said(submit);
    t.history.servers_changed();
    t.write(LifeBegan{Incarnation{2}, Epoch{1}}, 2);
    const Rejected late{submit.spec.id, Refusal::never_fits, ""};
    SUBCASE("before") { CHECK(t.say(5, late) == ""); }
    CHECK(t.say(1, Accepted{submit.spec.id, AgentId{0}}, 2) == "");
    CHECK(t.say(5, late) == "");
    CHECK(t.say(2, late, 2) != "");
  }
}

TEST_CASE("a home that has queues may refuse a job first, and not once it has accepted it") {
  Told t;
  Submit submit;
  submit.spec.id = JobId{0, 8};
  t.history.said(submit);
  const Rejected refused{submit.spec.id, Refusal::invalid, ""};
  const Accepted accepted{submit.spec.id, AgentId{0}};
  REQUIRE(t.say(5, refused) == "");
  SUBCASE("without queues") { CHECK(t.say(6, accepted) != ""); }
  SUBCASE("with queues") {
    t.write(QueuesSet{}, 1);
    CHECK(t.say(7, accepted) == "");
    CHECK(t.say(6, refused) == "");  // comes late
    CHECK(t.say(8, refused) != "");
  }
}

TEST_CASE("a job is accepted as it was submitted") {
  ClientHistory history;
  Submit submit;
  submit.spec.id = kJob;
  submit.spec.workers = 4;
  submit.spec.command = {"train"};
  history.said(submit);
  JobAccepted accepted{submit, 1};
  accepted.submit.spec.user = "ada";  // as her key says
  accepted.submit.spec.as_user = true;
  CHECK(history.wrote(kHome, Incarnation{1}, accepted) == "");
  SUBCASE("fewer workers") {
    accepted.submit.spec.workers = 2;
    CHECK(history.wrote(kHome, Incarnation{1}, accepted) != "");
  }
  SUBCASE("another command") {
    accepted.submit.spec.command = {"eval"};
    CHECK(history.wrote(kHome, Incarnation{1}, accepted) != "");
  }
  SUBCASE("a queue, where it named none") {
    accepted.submit.spec.queue = "rest";
    CHECK(history.wrote(kHome, Incarnation{1}, accepted) == "");
  }
  SUBCASE("another queue than it named") {
    submit.spec.queue = "research";
    ClientHistory other;
    other.said(submit);
    accepted.submit.spec.queue = "rest";
    CHECK(other.wrote(kHome, Incarnation{1}, accepted) != "");
  }
}

}  // namespace
}  // namespace starling
