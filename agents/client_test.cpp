// SPDX-License-Identifier: Apache-2.0
#include "agents/client.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace std::chrono_literals;

namespace {

const AgentId kA{0};
const AgentId kB{1};

Instant at(Duration d) { return Instant(d); }
JobId id(std::uint64_t n) { return {0, n}; }
JobSpec spec(std::uint64_t n) {
  JobSpec s;
  s.id = id(n);
  return s;
}

struct Fixture {
  Client client;
  Output out;

  explicit Fixture(Duration heartbeat = Duration::max()) : client(config(heartbeat), Rng(1)) {}
  static ClientConfig config(Duration heartbeat) {
    ClientConfig config{client_node(0), {kA, kB}, {}};
    config.timers.heartbeat = heartbeat;
    return config;
  }
  Output& tick(Duration now) {
    out.clear();
    client.step(at(now), Tick{}, out);
    return out;
  }
  Output& hear(Message message, Duration now, AgentId from = kA) {
    out.clear();
    client.step(at(now), Received{agent_node(from), std::move(message)}, out);
    return out;
  }
  const JobOutcome& job(std::uint64_t n) { return *client.find(id(n)); }
};

JobState state(std::uint64_t n, JobPhase phase, Duration elapsed, AgentId home = kA) {
  JobState s;
  s.job = id(n);
  s.phase = phase;
  s.home = home;
  s.elapsed = elapsed;
  return s;
}

}  // namespace

TEST_CASE("jobs are submitted at their time, equal times in the order given") {
  Fixture f;
  f.client.submit(at(5s), spec(1), kA);
  f.client.submit(at(2s), spec(2), kB);
  f.client.submit(at(2s), spec(3), kA);
  CHECK(f.client.next_deadline() == at(2s));
  CHECK(f.tick(1s).send.empty());
  REQUIRE(f.tick(2s).send.size() == 2);
  CHECK(f.out.send[0].to == agent_node(kB));
  CHECK(std::get<Submit>(f.out.send[1].message).spec.id == id(3));
  CHECK(std::get<Submit>(f.out.send[1].message).client == client_node(0));
}

TEST_CASE("a submit is repeated to the same home until answered, then never again") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  for (int i = 0; i < 3; ++i) {
    f.out.clear();
    const Instant due = f.client.next_deadline();
    REQUIRE(due < kNever);
    f.client.step(due, Tick{}, f.out);
    REQUIRE(f.out.send.size() == 1);
    CHECK(f.out.send[0].to == agent_node(kA));
  }
  f.hear(Accepted{id(1), kA}, 9s);
  CHECK(f.job(1).accepted);
  CHECK(f.client.next_deadline() == kNever);
  CHECK(f.client.counts().repeats == 3);
}

TEST_CASE("busy waits at least as long as it was told; rejected is final and keeps its reason") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Busy{id(1), 2000}, 0s);
  CHECK(f.client.next_deadline() >= at(2s));
  CHECK(f.client.next_deadline() <= at(3s));
  f.tick(3s);
  f.hear(Rejected{id(1), Refusal::never_fits, "9 GPUs never fit"}, 3s);
  CHECK(f.job(1).rejected);
  CHECK(f.job(1).reason == "9 GPUs never fit");
  CHECK(f.client.all_over());
  f.hear(Accepted{id(1), kA}, 4s);
  CHECK_FALSE(f.job(1).accepted);
}

TEST_CASE("a refused change of a job is no refusal of the job") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Rejected{id(1), Refusal::conflict, "it runs"}, 1s);
  CHECK_FALSE(f.job(1).rejected);
  f.hear(Accepted{id(1), kA}, 2s);
  CHECK(f.job(1).accepted);
}

TEST_CASE("of answers about queues the newest is kept") {
  Fixture f;
  CHECK_FALSE(f.client.queues().has_value());
  QueuesState told;
  told.tree.version = 2;
  f.hear(told, 1s);
  told.why = Refusal::conflict;
  f.hear(told, 2s);
  CHECK(f.client.queues()->why == Refusal::conflict);
  told.tree.version = 1;
  f.hear(told, 3s);
  CHECK(f.client.queues()->tree.version == 2);
  CHECK(f.client.counts().answers == 3);
}

TEST_CASE("a full home is waited for as long as it says so, and an hour longer") {
  Fixture f(1s);
  f.client.submit(at(0s), spec(1), kA);
  f.client.submit(at(0s), spec(2), kA);
  f.tick(0s);
  for (Duration t{0}; t <= 3h; t += 600s) {
    f.tick(t);
    f.hear(Busy{id(1), 1000}, t);
    f.hear(Busy{id(2), 1000}, t);
    if (t == 30min) f.client.cancel(id(2));
  }
  CHECK_FALSE(f.job(1).over());
  INFO("whoever wants the job no more does not wait for it to be taken");
  CHECK(f.job(2).rejected);
  f.tick(4h - 1s);
  CHECK_FALSE(f.job(1).over());
  f.tick(4h + 60s);
  CHECK(f.job(1).rejected);
}

TEST_CASE(
    "a job is followed to its new home, its start and its end; late and foreign words change "
    "nothing") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 0s);
  f.hear(state(1, JobPhase::waiting, 4s), 4s);
  f.hear(state(1, JobPhase::moved, 5s, kB), 5s);
  CHECK(f.job(1).home == kB);
  JobState running = state(1, JobPhase::running, 1s, kB);
  running.forwards = 1;
  f.hear(running, 6s, kB);
  CHECK(f.job(1).started == at(6s));
  f.hear(state(1, JobPhase::failed, 7s, kA), 7s, kA);
  CHECK_FALSE(f.job(1).over());
  JobState finished = state(1, JobPhase::finished, 3s, kB);
  finished.forwards = 1;
  f.hear(finished, 8s, kB);
  f.hear(running, 9s, kB);
  CHECK(f.job(1).state.phase == JobPhase::finished);
  CHECK(f.job(1).ended == at(8s));
  CHECK(f.client.counts().finished == 1);
  CHECK(f.client.counts().started == 1);
  f.out.clear();
  f.client.step(at(9s), Received{executor_node(0), finished}, f.out);
  CHECK(f.client.counts().refused_frames == 1);
}

TEST_CASE("a word of a job's first time at its home is late once it is there again") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 0s);
  JobState first = state(1, JobPhase::running, 1s);
  first.attempts = 1;
  JobState waits = state(1, JobPhase::waiting, 2s);
  waits.attempts = 2;
  f.hear(waits, 2s);
  f.hear(state(1, JobPhase::moved, 3s, kB), 3s);
  JobState back = state(1, JobPhase::moved, 1s, kA);
  back.forwards = 1;
  f.hear(back, 4s, kB);
  REQUIRE(f.job(1).home == kA);
  f.hear(first, 5s);
  CHECK(f.job(1).state.attempts == 2);
  JobState again = state(1, JobPhase::running, 1s);
  again.forwards = 2;
  again.attempts = 3;
  f.hear(again, 6s);
  CHECK(f.job(1).state.attempts == 3);
}

TEST_CASE("late words of two homes that send a client to and fro change nothing of what it knows") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 0s);
  JobState early = state(1, JobPhase::waiting, 1s), runs = state(1, JobPhase::running, 4s);
  early.forwards = runs.forwards = 2;
  runs.attempts = 1;
  f.hear(runs, 4s);
  JobState left = state(1, JobPhase::moved, 5s, kB), late = state(1, JobPhase::moved, 1s, kA);
  left.forwards = 2;
  late.forwards = 1;  // it has come to B anew since
  f.hear(left, 5s);
  f.hear(late, 6s, kB);
  REQUIRE(f.job(1).home == kA);
  f.hear(early, 7s);
  CHECK(f.job(1).state.attempts == 1);
  f.hear(left, 8s);
  JobState there = state(1, JobPhase::running, 1s, kB);
  there.forwards = 3;
  there.attempts = 2;
  f.hear(there, 9s, kB);
  CHECK(f.job(1).state.attempts == 2);
}

TEST_CASE("what a home says at one instant is taken in its order, whatever overtakes what") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  const auto word = [](JobPhase phase, std::uint32_t attempts) {
    JobState s = state(1, phase, 3s);
    s.attempts = attempts;
    return s;
  };
  f.hear(word(JobPhase::starting, 1), 3s);
  f.hear(word(JobPhase::waiting, 0), 4s);  // said before it started
  CHECK(f.job(1).state.phase == JobPhase::starting);
  f.hear(word(JobPhase::running, 1), 4s);
  f.hear(word(JobPhase::starting, 1), 5s);
  CHECK(f.job(1).state.phase == JobPhase::running);
  f.hear(word(JobPhase::waiting, 1), 5s);
  f.hear(word(JobPhase::draining, 1), 6s);
  CHECK(f.job(1).state.phase == JobPhase::waiting);
  f.hear(word(JobPhase::starting, 2), 6s);
  CHECK(f.job(1).state.attempts == 2);
}

TEST_CASE("an end counts, also from a next life of the home that takes less time to have passed") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 1s);
  f.hear(state(1, JobPhase::running, 10s), 10s);
  f.hear(state(1, JobPhase::running, 8s), 11s);
  CHECK(f.job(1).state.elapsed == 10s);
  f.hear(state(1, JobPhase::finished, 9s), 12s);
  CHECK(f.job(1).over());
  CHECK(f.job(1).state.phase == JobPhase::finished);
}

TEST_CASE("news that overtakes the acceptance counts as acceptance") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(state(1, JobPhase::running, 0s), 0s);
  CHECK(f.job(1).accepted);
  CHECK(f.client.next_deadline() == kNever);
}

TEST_CASE(
    "cancel: before it is sent no agent hears of it; later it is repeated until the home says so") {
  Fixture f;
  f.client.submit(at(5s), spec(1), kA);
  f.client.cancel(id(1));
  CHECK(f.tick(1s).send.empty());
  CHECK(f.job(1).state.phase == JobPhase::cancelled);
  CHECK(f.client.next_deadline() == kNever);

  f.client.submit(at(1s), spec(2), kA);
  f.tick(1s);
  f.client.cancel(id(2));
  CHECK(std::holds_alternative<Submit>(f.tick(1s).send.at(0).message));
  REQUIRE(f.hear(Accepted{id(2), kA}, 2s).send.size() == 1);
  CHECK(std::holds_alternative<Cancel>(f.out.send[0].message));
  f.hear(state(2, JobPhase::draining, 1s), 2s);
  CHECK(std::holds_alternative<Cancel>(f.tick(3s).send.at(0).message));
  f.hear(state(2, JobPhase::cancelled, 2s), 4s);
  CHECK(f.client.all_over());
}

TEST_CASE("with heartbeats a lost ending is asked for, and dated by what the home says") {
  Fixture f(500ms);
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 1s);
  CHECK(f.client.next_deadline() == at(6s));
  CHECK(std::holds_alternative<Query>(f.tick(6s).send.at(0).message));
  CHECK(f.client.next_deadline() == at(16s));
  JobState finished = state(1, JobPhase::finished, 4s);
  finished.queued = 2s;
  f.hear(finished, 6s);
  CHECK(f.job(1).started == at(3s));
  CHECK(f.job(1).ended == at(5s));
  CHECK(f.client.next_deadline() == kNever);
}

TEST_CASE("65,536 jobs cost no more than their events") {
  Fixture f;
  constexpr std::uint64_t kJobs = 65'536;
  for (std::uint64_t i = 0; i < kJobs; ++i) f.client.submit(at(i * 1ms), spec(i), kA);
  for (std::uint64_t i = 0; i < kJobs; ++i) {
    f.tick(i * 1ms);
    f.hear(Accepted{id(i), kA}, i * 1ms);
    f.hear(state(i, JobPhase::finished, 0s), i * 1ms);
  }
  CHECK(f.client.all_over());
  CHECK(f.client.counts().repeats == 0);
  CHECK(f.client.next_deadline() == kNever);
}

TEST_CASE("what only asks is sent once, and its answer changes nothing") {
  Fixture f;
  f.client.ask(kB, StatusQuery{});
  CHECK(f.client.next_deadline() == Instant::min());
  REQUIRE(f.tick(1s).send.size() == 1);
  CHECK(f.out.send[0].to == agent_node(kB));
  CHECK(std::holds_alternative<StatusQuery>(f.out.send[0].message));
  CHECK(f.client.next_deadline() == kNever);
  CHECK(f.tick(2s).send.empty());
  f.hear(AgentStatus{}, 2s, kB);
  CHECK(f.client.counts().answers == 1);
  CHECK(f.client.counts().refused_frames == 0);
}

TEST_CASE("a lost cancel is repeated soon for an hour, then rarely, for the home may be gone") {
  Fixture f(500ms);
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 1s);
  f.client.cancel(id(1));
  CHECK(std::holds_alternative<Cancel>(f.tick(2s).send.at(0).message));
  CHECK(f.client.next_deadline() <= at(2s) + Timers{}.retry_max);
  const Duration late = 1h + 1s;
  CHECK(std::holds_alternative<Cancel>(f.tick(late).send.at(0).message));
  CHECK(f.client.next_deadline() >= at(late) + 1min);
}

TEST_CASE(
    "the next home is believed before the last one has said that the job moved; no other agent") {
  Fixture f;
  f.client.submit(at(0s), spec(1), kA);
  f.tick(0s);
  f.hear(Accepted{id(1), kA}, 0s);
  JobState running = state(1, JobPhase::running, 1s, kA);
  running.forwards = 1;
  f.hear(running, 1s, kB);  // of a home that it is not
  CHECK(f.job(1).home == kA);
  CHECK(f.job(1).started == kNever);
  running.home = kB;
  f.hear(running, 2s, kB);
  CHECK(f.job(1).home == kB);
  CHECK(f.job(1).started == at(2s));
}

TEST_CASE("ends are counted by how they came") {
  Fixture f;
  for (std::uint64_t n = 1; n <= 6; ++n) f.client.submit(at(0s), spec(n), kA);
  f.tick(0s);
  f.hear(state(1, JobPhase::finished, 1s), 1s);
  for (const std::uint64_t n : {2, 3}) f.hear(state(n, JobPhase::failed, 1s), 1s);
  for (const std::uint64_t n : {4, 5, 6}) f.hear(state(n, JobPhase::cancelled, 1s), 1s);
  CHECK(f.client.counts().finished == 1);
  CHECK(f.client.counts().failed == 2);
  CHECK(f.client.counts().cancelled == 3);
}
