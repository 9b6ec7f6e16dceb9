// SPDX-License-Identifier: Apache-2.0
// From silence to a verdict: what those say that are asked, and what is said to those who ask.
#include <doctest/doctest.h>

#include "agents/home/scripted_home_test.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Agent 0 with three others, of which agent 1 falls silent until the two others are asked.
struct Asking : ScriptedHome {
  Asking() : ScriptedHome(4) {
    for (int i = 0; i < 8 && count<ProbeFor>(AgentId{2}) == 0; ++i) beat();
    REQUIRE(count<ProbeFor>(AgentId{2}) == 1);
    REQUIRE(count<ProbeFor>(AgentId{3}) == 1);
    REQUIRE(count<ProbeFor>(AgentId{1}) == 0);
  }
  /// All but agent 1 are heard.
  void beat() {
    for (const std::uint32_t a : {2U, 3U}) hear(AgentId{a}, Ping{1});
    hear(executor_node(0), Ping{1});
    tick(500ms);
  }
  void says(std::uint32_t who, bool reached) {
    hear(AgentId{who}, ProbeResult{agent_node(AgentId{1}), reached});
  }
  [[nodiscard]] Standing standing() const { return state().flock.peers[1].watch.standing; }
};

TEST_CASE(
    "a node that one of two hears is cut off, whatever the other says and whichever speaks first") {
  for (const bool good_first : {true, false}) {
    CAPTURE(good_first);
    Asking home;
    CHECK(home.standing() == Standing::silent);
    home.says(2, good_first);
    home.says(3, !good_first);
    CHECK(home.standing() == Standing::cut_off);
    for (int i = 0; i < 3; ++i) home.beat();
    CHECK(home.standing() == Standing::cut_off);
  }
}

TEST_CASE("a node that no other hears is lost, but not before the others have had time to say so") {
  Asking home;
  home.says(2, false);
  home.says(3, false);
  CHECK(home.standing() == Standing::silent);
  home.beat();
  CHECK(home.standing() == Standing::silent);
  for (int i = 0; i < 2; ++i) home.beat();
  CHECK(home.standing() == Standing::lost);
}

TEST_CASE("of a node of which no word comes nothing is known") {
  Asking home;
  for (int i = 0; i < 3; ++i) home.beat();
  CHECK(home.standing() == Standing::silent);
}

TEST_CASE("a node that is silent for longer is asked about again") {
  Asking home;
  for (int i = 0; i < 4; ++i) home.beat();
  CHECK(home.count<ProbeFor>(AgentId{2}) == 2);
}

TEST_CASE("a question about a node is answered at once where it was just heard, else in time") {
  Asking home;
  const NodeId silent = agent_node(AgentId{1}), well = agent_node(AgentId{2});
  home.hear(AgentId{2}, Ping{1});
  home.hear(AgentId{3}, ProbeFor{well});
  REQUIRE(home.last<ProbeResult>() != nullptr);
  CHECK(home.last<ProbeResult>()->node == well);
  CHECK(home.last<ProbeResult>()->reached);
  home.hear(AgentId{3}, ProbeFor{silent});
  CHECK(home.state().flock.probes.size() == 1);
  home.hear(AgentId{3}, ProbeFor{silent});  // a repeat
  CHECK(home.state().flock.probes.size() == 1);
  home.beat();
  CHECK(home.state().flock.probes.size() == 1);
  home.beat();
  CHECK(home.state().flock.probes.empty());
  CHECK(home.last<ProbeResult>()->node == silent);
  CHECK_FALSE(home.last<ProbeResult>()->reached);
}

TEST_CASE(
    "a node that falls silent and is heard again is well, and those that asked are told at once") {
  Asking home;
  const NodeId silent = agent_node(AgentId{1});
  home.hear(AgentId{3}, ProbeFor{silent});
  home.hear(AgentId{1}, Pong{1, 0});
  CHECK(home.standing() == Standing::well);
  REQUIRE(home.last<ProbeResult>() != nullptr);
  CHECK(home.last<ProbeResult>()->reached);
  CHECK(home.state().flock.probes.empty());
}

TEST_CASE("others are asked about an executor that answers them, not about an older one") {
  for (const std::uint16_t protocol : {std::uint16_t{1}, std::uint16_t{2}}) {
    CAPTURE(protocol);
    ScriptedHome home(4);
    Output out;
    home.agent->step(home.now, Received{executor_node(0), Ping{1}, protocol}, out);
    for (int i = 0; i < 6; ++i) {
      for (const std::uint32_t a : {1U, 2U, 3U}) home.hear(AgentId{a}, Ping{1});
      home.tick(500ms);
    }
    CHECK(home.state().owner.executors[0].watch.standing != Standing::well);
    CHECK((home.last<ProbeFor>() != nullptr) == (protocol == 2));
  }
}

TEST_CASE("a node that would not understand the question is not asked") {
  ScriptedHome home(4);
  for (int i = 0; i < 6; ++i) {
    Output out;
    home.agent->step(home.now, Received{agent_node(AgentId{2}), Ping{1}, 1}, out);
    home.hear(AgentId{3}, Ping{1});
    home.tick(500ms);
  }
  CHECK(home.count<ProbeFor>(AgentId{2}) == 0);
  CHECK(home.count<ProbeFor>(AgentId{3}) > 0);
}

TEST_CASE(
    "only an agent's word about others counts, and of a node that is well it changes nothing") {
  Asking home;
  home.hear(executor_node(0), ProbeResult{agent_node(AgentId{1}), true});
  CHECK(home.standing() == Standing::silent);
  CHECK(home.state().counters.refused_frames == 1);
  home.hear(AgentId{3}, ProbeResult{agent_node(AgentId{2}), true});
  CHECK(home.state().flock.peers[2].watch.standing == Standing::well);
  home.hear(AgentId{3}, ProbeResult{executor_node(77), true});  // none that is known here
}

}  // namespace
}  // namespace starling
