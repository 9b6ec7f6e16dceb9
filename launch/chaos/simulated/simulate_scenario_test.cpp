// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/simulated/simulate_scenario.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "launch/chaos/scenario/load_scenario.h"
#include "launch/chaos/simulated/counterparts.h"
#include "launch/wiring/wiring.h"

namespace starling::chaos_live {
namespace {

ChaosRun played(const ChaosScenario& scenario, const ChaosOptions& options = {}) {
  return simulate_scenario(scenario, all_policies(), options).value();
}

ChaosScenario scenario_of(const std::string& text) {
  return parse_scenario(text, "test.yaml").value();
}

/// What each shipped scenario has that a simulation lacks; of all others nothing.
const std::map<std::string, std::size_t>& known_to_be_left_out() {
  static const std::map<std::string, std::size_t> all{
      {"dead-agent", 1},    {"descriptors", 1}, {"etcd-outage", 3}, {"everything", 9},  {"gate", 3},
      {"lossy-network", 1}, {"machines", 2},    {"manners", 4},     {"submit-storm", 3}};
  return all;
}

TEST_CASE("every shipped scenario can be played, breaks no rule, and what is left out is named") {
  for (const BuiltIn& built_in : built_in_scenarios()) {
    CAPTURE(built_in.name);
    const ChaosScenario scenario = parse_scenario(built_in.text, built_in.name).value();
    const auto known = known_to_be_left_out().find(scenario.name);
    const auto left_out = without_counterpart(scenario);
    std::string names;
    for (const std::string& what : left_out) names += what + "; ";
    CAPTURE(names);
    CHECK(left_out.size() == (known == known_to_be_left_out().end() ? 0 : known->second));
    const ChaosRun run = played(scenario);
    if (run.failure) MESSAGE(run.failure->rule << ": " << run.failure->message);
    CHECK_FALSE(run.failure);
    CHECK(run.jobs > 0);
    CHECK(run.finished > 0);
    CHECK(run.simulated_s > scenario.length);
    CHECK_FALSE(run.active.empty());
  }
}

TEST_CASE("same scenario and seed, same run; another seed, another run") {
  ChaosScenario scenario = load_scenario("kill-storm").value();
  const ChaosRun once = played(scenario), again = played(scenario);
  CHECK(once.trace_hash == again.trace_hash);
  CHECK(once.faults == again.faults);
  scenario.seed = 2;
  CHECK(played(scenario).trace_hash != once.trace_hash);
}

TEST_CASE("faults come as the plan says: which processes, when, for how long") {
  const ChaosScenario scenario = scenario_of(
      "name: t\nlength: 24s\nload: {jobs_per_s: 1}\nflock: {agents: 2, executors: 2}\n"
      "faults:\n  - {fault: kill, who: agent 1, at: 10s, down: 5s}\n");
  std::string seen;
  const auto look = [&seen](World& w) {
    for (std::uint32_t a = 0; a < 2; ++a) seen += w.agent(AgentId{a}) == nullptr ? '-' : '+';
  };
  ChaosOptions options;
  options.plant = [&look](World& world) {  // half way, at 12 s
    look(world);
    world.at(Instant(from_seconds(16)), look);
  };
  const ChaosRun run = played(scenario, options);
  CHECK_FALSE(run.failure);
  CHECK(run.faults.at("kill (F1)") == 1);
  CHECK(seen == "+-++");
}

TEST_CASE("an agent that is dead for longer than its lease is taken over where state is in etcd") {
  const std::string text =
      "name: t\nlength: 30s\nload: {jobs_per_s: 1}\nfaults:\n"
      "  - {fault: kill, who: agent 1, at: 5s, down: 20s}\n  - {fault: stop, who: agent 2, at: 5s, "
      "for: 20s}\n"
      "  - {fault: cut, who: rack 3, at: 5s, for: 20s}\n";
  const ChaosRun alone = played(scenario_of(text));
  CHECK_FALSE(alone.failure);
  CHECK_FALSE(alone.faults.contains("takeovers"));
  const ChaosRun others = played(scenario_of(text + "flock: {state: etcd}\n"));
  if (others.failure) MESSAGE(others.failure->rule << ": " << others.failure->message);
  CHECK_FALSE(others.failure);
  CHECK(others.faults.at("takeovers") == 3);
}

TEST_CASE("a planted mistake is found, and so is what was expected and did not happen") {
  ChaosOptions options;
  options.demo = true;
  const ChaosRun run = played(load_scenario("kill-storm").value(), options);
  REQUIRE(run.failure);
  CHECK(run.failure->rule[0] == 'S');
  const ChaosRun few =
      played(scenario_of("name: t\nlength: 10s\nfaults:\n  - {fault: kill, who: any agent, at: "
                         "5s}\nexpect: {kills: 3}\n"));
  REQUIRE(few.failure);
  CHECK(few.failure->rule == "expected");
  CHECK(few.failure->message == "only 1 kills happened; expected 3");
}

TEST_CASE("what has no counterpart is named, once, with the reason") {
  const ChaosScenario scenario = scenario_of(
      "name: t\nflock: {state: etcd}\nload: {manners: [plain, print, print], submits_per_s: 1}\n"
      "faults:\n  - {fault: kill, who: any etcd, at: 5s}\n  - {fault: kill, who: any agent, at: "
      "5s}\n"
      "  - {fault: cut, who: [any agent, all etcd], at: 5s}\n  - {fault: garbage, who: any agent, "
      "at: 5s}\n"
      "expect: {rss_mib: 100}\n");
  const std::vector<std::string> expected{
      "fault kill of etcd: the members of etcd are not simulated here ('starling chaos etcd' does)",
      "fault garbage: what strangers write ends below what is simulated",
      "manner print: simulated jobs have no files",
      "load submits_per_s: there are no commands in a simulation",
      "expect rss_mib: only a real machine can be measured"};
  CHECK(without_counterpart(scenario) == expected);
}

}  // namespace
}  // namespace starling::chaos_live
