// SPDX-License-Identifier: Apache-2.0
#include "sim/world/users.h"

#include <doctest/doctest.h>

#include "agents/step/state.h"
#include "sim/test_two_racks.h"

// Clients that die, and what goes on without them.

namespace starling {
namespace {

using namespace std::chrono_literals;

SimOptions submitted_by(std::uint32_t clients) {
  SimOptions options;
  options.clients = clients;
  return options;
}

struct Flock : TwoRacks {
  explicit Flock(std::uint32_t clients, std::uint32_t jobs = 12, Duration each = 60s)
      : TwoRacks(equal_jobs(jobs, each, 1s), submitted_by(clients)) {}
};

TEST_CASE("three clients submit what is theirs, and each is told of it") {
  Flock flock(3);
  REQUIRE(flock.world->run().ok());
  const Users& users = flock.world->users();
  CHECK(users.counts().finished == 12);
  for (std::uint32_t place = 0; place < 3; ++place) {
    CHECK(users.client(place)->counts().finished == 4);
    for (const JobOutcome& job : users.client(place)->jobs())
      CHECK(users.place_of(job.job) == place);
  }
}

TEST_CASE(
    "a client dies: what it sent ends, what no other takes up too, and what it never sent is "
    "sent") {
  Flock flock(2);
  World& world = *flock.world;
  // Jobs 0, 1, 4, 5 are this client's and sent by then; it was told that they were accepted.
  flock.until(5500ms);
  REQUIRE(world.users().client(0)->counts().accepted == 4);
  world.crash_client(0);
  CHECK_FALSE(world.client_lives(0));
  CHECK_FALSE(world.all_over());
  CHECK(world.users().find(trace_job_id(0))->accepted);
  SUBCASE("under its name") { flock.until(9500ms); }
  SUBCASE("as a session of its own") {}
  const bool session = world.now() < Instant(6s);
  world.renew_client(0, session, [](JobId job) { return job == trace_job_id(4); });
  const Client& next = *world.users().client(0);
  CHECK(next.find(trace_job_id(0)) == nullptr);
  CHECK(next.find(trace_job_id(4)) != nullptr);
  REQUIRE(world.run().ok());
  CHECK(next.counts().finished == 3);  // 4, and 8 and 9, which were not due yet
  CHECK(next.find(trace_job_id(4))->state.phase == JobPhase::finished);
  CHECK(world.users().find(trace_job_id(0))->state.phase != JobPhase::finished);  // not heard
  for (const JobTruth& job : world.hardware().jobs()) {
    CHECK(world.end_of(job.id) == JobPhase::finished);
    CHECK(job.attempts == 1);
  }
}

TEST_CASE("a client dies before any agent heard it: its job was never accepted, or all of it") {
  for (const bool arrives : {false, true}) {
    Flock flock(1, 1);
    World& world = *flock.world;
    world.at(Instant(0s), [&](World& w) {
      if (!arrives) w.network().cut(client_node(0), agent_node(AgentId{0}), true);
    });
    // The frame is on its way.
    while (world.users().counts().sent == 0) REQUIRE(world.step_until(kNever).ok());
    world.crash_client(0);
    world.network().cut(client_node(0), agent_node(AgentId{0}), false);
    world.renew_client(0, true, [](JobId) { return false; });
    flock.until(10min);
    CHECK(world.all_over());
    CHECK(world.accepted(trace_job_id(0)) == arrives);
    CHECK(world.hardware().jobs()[0].attempts == (arrives ? 1 : 0));
    CHECK(world.end_of(trace_job_id(0)).has_value() == arrives);
  }
}

TEST_CASE("a job that is submitted again under its id runs once") {
  Flock flock(1, 1, 10min);
  World& world = *flock.world;
  for (std::uint32_t life = 0; life < 5; ++life) {
    flock.until(30s * (life + 1));
    world.crash_client(0);
    world.renew_client(0, life % 2 == 0, [](JobId) { return true; });
  }
  REQUIRE(world.run().ok());
  CHECK(world.hardware().jobs()[0].attempts == 1);
  CHECK(world.users().deaths() == 5);
  CHECK(world.users().counts().accepted == 6);
  CHECK(world.users().find(trace_job_id(0))->state.phase == JobPhase::finished);
}

TEST_CASE("what a dead client sent is not cancelled unsent by the next one") {
  Flock flock(1, 1, 10min);
  World& world = *flock.world;
  flock.until(10s);
  world.crash_client(0);
  world.renew_client(0, false, [](JobId) { return true; });
  CHECK_FALSE(world.cancel(trace_job_id(0)));
  flock.until(20s);
  CHECK(world.cancel(trace_job_id(0)));
  REQUIRE(world.run().ok());
  CHECK(world.end_of(trace_job_id(0)) == JobPhase::cancelled);
}

TEST_CASE("the client that follows a job cancels it, and another client may") {
  Flock flock(2, 4, 10min);
  World& world = *flock.world;
  flock.until(10s);
  CHECK(world.cancel(trace_job_id(2)));  // the second client's
  world.ask(world.users().find(trace_job_id(0))->home, Cancel{trace_job_id(0)}, 1);
  REQUIRE(world.run().ok());
  CHECK(world.users().cancelled(trace_job_id(2)));
  CHECK_FALSE(world.users().cancelled(trace_job_id(0)));
  CHECK(world.end_of(trace_job_id(0)) == JobPhase::cancelled);
  CHECK(world.end_of(trace_job_id(2)) == JobPhase::cancelled);
  CHECK(world.users().find(trace_job_id(0))->state.phase == JobPhase::cancelled);
  CHECK(world.end_of(trace_job_id(1)) == JobPhase::finished);
}

}  // namespace
}  // namespace starling
