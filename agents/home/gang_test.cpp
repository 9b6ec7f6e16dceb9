// SPDX-License-Identifier: Apache-2.0
// A gang over several partitions starts whole or not at all, whatever the network does to its
// messages.
#include <doctest/doctest.h>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a gang that no partition can hold runs on all of them") {
  TestFlock flock({.agents = 3, .servers = 3});
  flock.submit(1, 12, 60s, 1);
  CHECK(flock.settle(10min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.agent(1).counters.cross_partition_gangs == 1);
  CHECK(flock.launches() == 3);
  CHECK(flock.faults().empty());
}

TEST_CASE("two homes want everything at once: both jobs end, one after the other") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    TestFlock flock({.agents = 2, .servers = 2, .seed = seed, .delay = 1ms, .jitter = 2ms});
    flock.submit(1, 8, 20s, 0);
    flock.submit(2, 8, 20s, 1);
    CHECK(flock.settle(1h));
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(flock.phase(2) == JobPhase::finished);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("each message of the flow may be lost once") {
  for (const char* kind :
       {"Submit", "Accepted", "BidRequest", "Offer", "Reserve", "Reserved", "Commit", "Committed",
        "StartAttempt", "Started", "Launch", "LaunchResult", "Exited", "ExitedAck", "Inventory",
        "InventoryRequest", "Digest", "Welcome", "Hello"}) {
    CAPTURE(kind);
    TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
    flock.lose_next(kind);
    flock.submit(1, 8, 20s, 0);
    CHECK(flock.settle(30min));
    CHECK(flock.phase(1) == JobPhase::finished);
    CHECK(flock.faults().empty());
    if (!flock.faults().empty()) MESSAGE(flock.faults().front());
  }
}

TEST_CASE("a gang whose round failed is looked at again soon, and not again and again") {
  for (const char* kind : {"Offer", "Reserve", "Committed"}) {
    CAPTURE(kind);
    TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
    flock.run_for(10s);
    flock.lose_next(kind, 30);
    flock.submit(1, 8, 0s, 0);
    flock.run_for(2s);
    flock.lose_no_more(kind);
    REQUIRE(flock.phase(1) != JobPhase::running);
    flock.run_for(20s);
    CHECK(flock.phase(1) == JobPhase::running);
  }
  TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
  flock.submit(1, 4, 0s, 1);
  flock.run_for(10s);
  flock.submit(2, 8, 20s, 0);  // half of what it needs is busy for ever
  flock.run_for(10min);
  const std::uint64_t steps = flock.steps_of(0);
  flock.run_for(2min);
  CHECK(flock.steps_of(0) - steps < 5000);
}

TEST_CASE("each message of the way back may be lost, too") {
  for (const char* kind : {"Release", "Released", "Kill", "Killed", "Cancel", "JobState"}) {
    CAPTURE(kind);
    TestFlock flock({.agents = 2, .servers = 2, .delay = 1ms, .lossy = true});
    flock.submit(1, 8, 0s, 0);
    flock.run_for(30s);
    REQUIRE(flock.processes() == 2);
    flock.lose_next(kind);
    flock.cancel(1);
    CHECK(flock.settle(30min));
    CHECK(flock.phase(1) == JobPhase::cancelled);
    CHECK(flock.faults().empty());
  }
}

TEST_CASE("one executor refuses: nothing stays, the next round works") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.refuse_next_launch();
  flock.submit(1, 8, 20s, 0);
  CHECK(flock.settle(1h));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 1}).attempts == 2);
  CHECK(flock.faults().empty());
}

TEST_CASE("loss, repeats and overtaking: no GPU twice, no part without the whole, all ends") {
  std::uint64_t gangs = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    TestFlock flock({.agents = 3,
                     .servers = 3,
                     .seed = seed,
                     .delay = 1ms,
                     .jitter = seed % 3 == 0 ? 400ms : 30ms,
                     .loss = 0.1 * static_cast<double>(seed % 4),
                     .duplication = 0.15 * static_cast<double>(seed % 3),
                     .lossy = true});
    Rng rng(seed, 17);
    for (std::uint64_t n = 1; n <= 10; ++n) {
      flock.submit(n, 1 + rng.below(12), std::chrono::seconds(1 + rng.below(20)), rng.below(3));
      flock.run_for(std::chrono::milliseconds(rng.below(3000)));
      if (rng.below(6) == 0) flock.cancel(1 + rng.below(static_cast<std::uint32_t>(n)));
    }
    flock.run_for(1min);
    flock.heal();
    CHECK(flock.settle(2h));
    CHECK(flock.faults().empty());
    if (!flock.faults().empty()) {
      MESSAGE(flock.faults().front());
      break;
    }
    for (std::uint32_t a = 0; a < 3; ++a) gangs += flock.agent(a).counters.cross_partition_gangs;
  }
  CHECK(gangs > 60);
}

}  // namespace
}  // namespace starling
