// SPDX-License-Identifier: Apache-2.0
// What a checker may ask of a core: replaying the journal gives the durable state, a refused frame
// changes nothing, nothing grows beyond its bound.
#include <doctest/doctest.h>

#include <utility>

#include "agents/executor/executor_state.h"
#include "agents/explain/describe.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Everything at once: gangs, forwards, cancels, crashes, loss.
struct Busy {
  explicit Busy(std::uint64_t seed)
      : flock({.agents = 3,
               .servers = 3,
               .seed = seed,
               .delay = 1ms,
               .jitter = 50ms,
               .loss = 0.05,
               .duplication = 0.1,
               .lossy = true}),
        rng(seed, 31) {}

  void go_on(std::uint64_t n) {
    flock.submit(n, 1 + rng.below(12), std::chrono::seconds(1 + rng.below(20)), rng.below(3));
    flock.run_for(std::chrono::milliseconds(rng.below(4000)));
    if (rng.below(4) == 0) flock.cancel(1 + rng.below(static_cast<std::uint32_t>(n)));
    if (rng.below(5) == 0) {
      const std::uint32_t who = rng.below(3);
      flock.crash_executor(who);
      flock.run_for(std::chrono::milliseconds(rng.below(4000)));
      flock.restart_executor(who);
    }
  }
  TestFlock flock;
  Rng rng;
};

TEST_CASE("S15: the journal, and the snapshot, replay to the durable state of the moment") {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Busy busy(seed);
    for (std::uint64_t n = 1; n <= 14; ++n) {
      busy.go_on(n);
      CAPTURE(seed);
      CAPTURE(n);
      for (std::uint32_t a = 0; a < 3; ++a) {
        const std::string before = durable_state(busy.flock.agent(a));
        CHECK(before == durable_state(busy.flock.replayed_agent(a, false)->state()));
        CHECK(before == durable_state(busy.flock.replayed_agent(a, true)->state()));
      }
      for (std::uint32_t e = 0; e < 3; ++e) {
        const std::string before = durable_state(busy.flock.executor(e));
        CHECK(before == durable_state(busy.flock.replayed_executor(e, false)->state()));
        CHECK(before == durable_state(busy.flock.replayed_executor(e, true)->state()));
      }
    }
    CHECK(busy.flock.faults().empty());
  }
}

TEST_CASE("S11: everything stays within its bounds, and a bound that is passed is named") {
  for (std::uint64_t seed = 40; seed <= 50; ++seed) {
    Busy busy(seed);
    for (std::uint64_t n = 1; n <= 14; ++n) {
      busy.go_on(n);
      for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(over_limits(busy.flock.agent(i)).value_or("") == "");
        CHECK(over_limits(busy.flock.executor(i)).value_or("") == "");
      }
    }
  }
  FlockOptions options;
  options.limits.jobs_waiting = 3;
  TestFlock flock(options);
  flock.submit(1, 4, 100s);
  flock.run_for(1s);
  AgentState& state = const_cast<AgentState&>(flock.agent(0));
  CHECK_FALSE(over_limits(state));
  state.config.limits.jobs_waiting = 0;
  CHECK(over_limits(state).value() == "jobs: 1 of at most 0");
}

TEST_CASE("S11: lists beside the jobs and the shares are counted, too") {
  TestFlock flock(FlockOptions{});
  flock.submit(1, 4, 100s);
  flock.run_for(1s);
  const AgentState& good = flock.agent(0);
  REQUIRE_FALSE(over_limits(good));
  REQUIRE(good.owner.shares.size() == 1);
  const auto named = [&](const auto& spoil) {
    AgentState bad = good;
    spoil(bad);
    return over_limits(bad).value_or("nothing");
  };
  CHECK(named([](AgentState& s) {
          s.owner.shares.begin()->second.denied = {AgentId{0}, AgentId{1}};
        }) == "denials of a share: 2 of at most 1");
  CHECK(named([](AgentState& s) {
          Job job = s.home.jobs.begin()->second;
          for (job.order = 7; job.order < 9; ++job.order) s.home.enter_waiting(job, false);
        }) == "waiting list: 2 of at most 1");
  CHECK(named([](AgentState& s) {
          for (const Duration at : {1s, 2s}) {
            Instant held = kNever;
            s.owner.share_timers.move(s.owner.shares.begin()->first, held, Instant(at));
          }
        }) == "share timers: 2 of at most 1");
  CHECK(named([](AgentState& s) {
          s.config.limits.jobs_remembered = 0;
          s.home.remembered.ended.emplace(JobId{0, 9}, JobState{});
        }) == "ended jobs: 1 of at most 0");
  CHECK(named([](AgentState& s) { s.owner.executors.resize(3); }) == "executors: 3 of at most 2");
}

TEST_CASE("a policy sees of a job that waits what it has behind it") {
  TestFlock flock(FlockOptions{});
  flock.submit(1, 4, 100s);
  flock.run_for(1s);
  AgentState s = flock.agent(0);
  Job job = s.home.jobs.begin()->second;
  job.order = 7;
  job.forwards = 3;
  job.failed_rounds = 2;
  job.served = 5s;
  job.offered = {AgentId{1}};
  s.home.enter_waiting(job, true);
  const JobView* view = s.home.waiting.find(job.order);
  REQUIRE(view != nullptr);
  CHECK(view->spec == job.spec.get());
  CHECK(view->forwards == 3);
  CHECK(view->failed_rounds == 2);
  CHECK(view->served == 5s);
  CHECK(view->offered.size() == 1);
  CHECK(view->blocked);
}

TEST_CASE("of the jobs that went away as many are known as may be, the newest") {
  TestFlock flock(FlockOptions{});
  AgentState s = flock.agent(0);
  s.config.limits.jobs_remembered = 2;
  for (std::uint64_t n = 1; n <= 5; ++n) {
    s.home.remembered.moved[JobId{0, n}] = Moved{AgentId{1}, 1, {}};
    s.home.remembered.add_moved(JobId{0, n}, s.config.limits);
  }
  REQUIRE(s.home.remembered.moved_order.size() == 2);
  CHECK(s.home.remembered.moved_order.front().first == JobId{0, 4});
  CHECK(s.home.remembered.moved.size() == 2);
  s.home.remembered.moved[JobId{0, 4}] = Moved{AgentId{1}, 3, {}};  // it came back and left again
  s.home.remembered.add_moved(JobId{0, 4}, s.config.limits);
  CHECK(s.home.remembered.moved.contains(JobId{0, 4}));
  CHECK(s.home.remembered.moved.contains(JobId{0, 5}));
}

TEST_CASE(
    "the owner of a partition is the one that the flock says, and what is none has no owner") {
  TestFlock flock({.agents = 3, .servers = 3});
  AgentState s = flock.agent(0);
  CHECK(s.flock.owner_of(PartitionId{3}) == nullptr);
  std::swap(s.flock.peers[1].peer.partition, s.flock.peers[2].peer.partition);
  for (const PeerState& peer : s.flock.peers)
    CHECK(s.flock.owner_of(peer.peer.partition.id) == &peer);
}

TEST_CASE("S10: a message from a node that may not say it changes nothing") {
  Busy busy(7);
  for (std::uint64_t n = 1; n <= 6; ++n) busy.go_on(n);
  const std::uint64_t before = state_hash(busy.flock.agent(0));
  CHECK(before == state_hash(busy.flock.agent(0)));
  busy.flock.submit(99, 1, 5s, 0);
  busy.flock.run_for(1s);
  CHECK(before != state_hash(busy.flock.agent(0)));
}

}  // namespace
}  // namespace starling
