// SPDX-License-Identifier: Apache-2.0
// A flock that is too large for everybody to tell everybody, of real agents.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

FlockOptions large(std::uint32_t agents, bool lossy) {
  FlockOptions options;
  options.agents = options.servers = agents;
  options.flood_most = 2;
  options.lossy = lossy;
  if (lossy) options.delay = options.jitter = 1ms;
  return options;
}

/// What an agent that is up gets wrong about another that is.
std::string disagreement(const TestFlock& flock, std::uint32_t agents) {
  for (std::uint32_t a = 0; a < agents; ++a) {
    for (std::uint32_t b = 0; b < agents; ++b) {
      if (a == b || !flock.is_up(a) || !flock.is_up(b)) continue;
      const PeerState& known = flock.agent(a).flock.peers[b];
      const auto who = std::to_string(a) + " of " + std::to_string(b);
      if (!known.digest) return who + ": nothing";
      if (known.digest->free != flock.agent(b).owner.ledger.free_count() ||
          known.digest->waiting != flock.agent(b).home.waiting_jobs())
        return who + ": something else";
    }
  }
  return {};
}

TEST_CASE("a job finds the room that an agent far away has") {
  constexpr std::uint32_t kAgents = 12;
  TestFlock flock(large(kAgents, false));
  flock.run_for(0s);
  // All servers but the last one's are full, and each agent has told of it.
  std::uint64_t n = 0;
  for (std::uint32_t a = 0; a + 1 < kAgents; ++a) flock.submit(++n, 4, 1h, a);
  flock.run_for(1s);
  for (std::uint32_t a = 0; a + 1 < kAgents; ++a) flock.submit(++n, 1, 10s, a);
  REQUIRE(flock.settle(3h));
  CHECK(flock.faults().empty());
  for (std::uint64_t job = 1; job <= n; ++job) CHECK(flock.phase(job) == JobPhase::finished);
}

TEST_CASE("where frames get lost all know of all again soon, whichever agents are dead") {
  constexpr std::uint32_t kAgents = 12;
  FlockOptions options = large(kAgents, true);
  options.loss = 0.2;
  options.seed = 3;
  TestFlock flock(options);
  flock.run_for(5s);
  for (std::uint64_t n = 1; n <= 24; ++n)
    flock.submit(n, static_cast<std::uint32_t>(1 + n % 4), 20s,
                 static_cast<std::uint32_t>(n % kAgents));
  flock.run_for(10s);
  for (const std::uint32_t a : {1U, 2U, 8U}) flock.crash_agent(a);
  flock.run_for(60s);
  flock.heal();
  flock.run_for(30s);
  CHECK(disagreement(flock, kAgents) == "");
  for (const std::uint32_t a : {1U, 2U, 8U}) flock.restart_agent(a);
  flock.run_for(30s);
  CHECK(disagreement(flock, kAgents) == "");
  CHECK(flock.faults().empty());
}

TEST_CASE("an agent of an earlier protocol hears from all others, and they from it") {
  FlockOptions options = large(6, true);
  options.protocol = 3;
  TestFlock flock(options);
  flock.run_for(5s);
  flock.submit(1, 3, 1h, 4);
  flock.submit(2, 2, 1h, 0);
  flock.run_for(30s);
  CHECK(disagreement(flock, 6) == "");
}

}  // namespace
}  // namespace starling
