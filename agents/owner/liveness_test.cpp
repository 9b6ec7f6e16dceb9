// SPDX-License-Identifier: Apache-2.0
// Who is believed to live, and by whom: a broken way, a dead node and a slow observer are told
// apart.
#include <doctest/doctest.h>

#include <algorithm>

#include "agents/parts/watch.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

Standing standing(const TestFlock& flock, std::uint32_t of, std::uint32_t about) {
  return flock.agent(of).flock.peers[about].watch.standing;
}
bool any_line(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST_CASE("an agent that is late, or hears no other, grows patient, and impatient again") {
  LocalHealth health;
  CHECK(health.factor() == 1);
  health.beat(100ms, 500ms, false);
  CHECK(health.factor() == 1);
  CHECK(health.lag() == 100ms);
  health.beat(250ms - 1ns, 500ms, false);
  CHECK(health.factor() == 1);
  health.beat(250ms, 500ms, false);
  CHECK(health.factor() == 2);
  health.beat(0ms, 500ms, false);
  health.beat(300ms, 500ms, false);
  CHECK(health.factor() == 2);
  health.beat(0ms, 500ms, true);
  CHECK(health.factor() == 3);
  CHECK(health.lag() == 150ms);
  health.beat(1h, 500ms, false);
  CHECK(health.factor() == LocalHealth::kMost);
  for (int i = 0; i < 10; ++i) health.beat(0ms, 500ms, false);
  CHECK(health.factor() == 1);
  CHECK(health.lag() < 5s);
}

TEST_CASE("a peer that others hear is cut off, one that no other hears is lost") {
  TestFlock flock({.agents = 4, .servers = 4, .lossy = true});
  flock.run_for(3s);
  flock.set_cut(agent_node(AgentId{0}), agent_node(AgentId{1}), true);
  flock.crash_agent(3);
  flock.run_for(6s);
  CHECK(standing(flock, 0, 1) == Standing::cut_off);
  CHECK(standing(flock, 1, 0) == Standing::cut_off);
  for (const std::uint32_t a : {0U, 1U, 2U}) CHECK(standing(flock, a, 3) == Standing::lost);
  CHECK(standing(flock, 0, 2) == Standing::well);
  CHECK(standing(flock, 2, 1) == Standing::well);

  flock.set_cut(agent_node(AgentId{0}), agent_node(AgentId{1}), false);
  flock.restart_agent(3);
  flock.run_for(3s);
  for (const std::uint32_t a : {0U, 1U, 2U, 3U}) {
    for (const std::uint32_t b : {0U, 1U, 2U, 3U}) CHECK(standing(flock, a, b) == Standing::well);
  }
}

TEST_CASE("answers to an earlier life cannot be taken for answers to this one") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(10s);
  const std::uint64_t asked = flock.agent(0).flock.pings;
  flock.crash_agent(0);
  flock.restart_agent(0);
  CHECK(flock.agent(0).flock.pings > asked);
  CHECK(flock.agent(0).flock.pings < 2 * asked);
}

TEST_CASE("an executor that only others hear is cut off, and its GPUs wait") {
  TestFlock flock({.agents = 3, .servers = 3, .lossy = true});
  flock.run_for(3s);
  flock.set_cut(agent_node(AgentId{0}), executor_node(0), true);
  flock.run_for(6s);
  CHECK(flock.agent(0).owner.executors[0].watch.standing == Standing::cut_off);
  CHECK(flock.agent(0).owner.ledger.quarantined_count() == 4);
  flock.crash_executor(0);
  flock.run_for(10s);
  CHECK(flock.agent(0).owner.executors[0].watch.standing == Standing::lost);
}

TEST_CASE("an agent that runs a cycle every three seconds accuses no other") {
  TestFlock flock({.agents = 4, .servers = 4, .lossy = true});
  flock.run_for(3s);
  for (int i = 0; i < 30; ++i) {
    flock.freeze_agent(0, 3s);
    flock.run_for(3s + 1ms);
    for (const std::uint32_t b : {1U, 2U, 3U}) CHECK(standing(flock, 0, b) != Standing::lost);
    CHECK(flock.agent(0).owner.ledger.quarantined_count() == 0);
  }
  CHECK(flock.agent(0).flock.health.factor() > 4);
  // It says so, and is given time.
  for (const std::uint32_t a : {1U, 2U, 3U}) {
    CHECK(flock.agent(a).flock.peers[0].watch.lag > 1s);
    CHECK(standing(flock, a, 0) == Standing::well);
  }
}

TEST_CASE("agents that lose half of what is said ask others before they blame one") {
  TestFlock flock({.agents = 5, .servers = 5, .seed = 3, .loss = 0.5, .lossy = true});
  flock.run_for(2min);
  std::uint32_t lost = 0;
  for (std::uint32_t a = 0; a < 5; ++a) {
    for (std::uint32_t b = 0; b < 5; ++b) lost += standing(flock, a, b) == Standing::lost ? 1 : 0;
  }
  CHECK(lost == 0);
  flock.heal();
  flock.run_for(10s);
  CHECK(flock.agent(0).flock.health.factor() == 1);
}

TEST_CASE("nothing of protocol 2 is said to or by an agent of protocol 1") {
  TestFlock flock({.agents = 3, .servers = 3, .lossy = true, .protocol = 1});
  flock.run_for(3s);
  flock.set_sick(0, {GpuId{0}});
  flock.set_cut(agent_node(AgentId{0}), agent_node(AgentId{1}), true);
  (void)flock.take_transcript();
  flock.run_for(10s);
  const std::vector<std::string> lines = flock.take_transcript();
  CHECK_FALSE(any_line(lines, "agent 0  Probe"));
  CHECK_FALSE(any_line(lines, "agent 0 -> agent 2  Probe"));
  CHECK_FALSE(any_line(lines, "GpuHealth"));
  CHECK(standing(flock, 0, 1) == Standing::lost);     // as that version judges
  CHECK(standing(flock, 1, 0) == Standing::cut_off);  // agent 2 hears it

  // Of the two that agent 2 hears or heard one is dead and the other of that version.
  flock.crash_agent(1);
  (void)flock.take_transcript();
  flock.run_for(10s);
  CHECK_FALSE(any_line(flock.take_transcript(), "ProbeFor"));
  CHECK(standing(flock, 2, 1) == Standing::lost);
}

TEST_CASE("a peer of another range of protocols is told so") {
  TestFlock flock({.agents = 2, .servers = 2});
  flock.run_for(1s);
  (void)flock.take_transcript();
  flock.ask(0, Hello{Role::client, 9, 10, {}});
  flock.run_for(1s);
  CHECK(any_line(flock.take_transcript(),
                 "Goodbye agent 0 speaks protocols 1 to 8, and you 9 to 10"));
}

}  // namespace
}  // namespace starling
