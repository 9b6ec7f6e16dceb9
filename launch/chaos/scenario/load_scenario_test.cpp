// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/scenario/load_scenario.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "launch/chaos/scenario/fault_kinds.h"
#include "launch/chaos/scenario/plan.h"

using namespace starling;
using namespace starling::chaos_live;

namespace {

const std::string kGood = R"(name: mine
flock: {agents: 3, executors: 6, gpus: 4, state: etcd}
load: {jobs_per_s: 5, seconds: [0.5s, 2s], gpus: [1, 4], gangs: 0.5}
length: 2m
seed: 9
faults:
  - {fault: kill, who: any agent, every: 5s, down: [0s, 4s]}
  - {fault: stop, who: 2 agents, at: [10s, 30s], for: 6s}
  - {fault: cut, who: [agent 1, all agents], mean: 10s, for: [1s, 3s], direction: out}
  - {fault: storm, at: 40s, times: 50}
expect: {takeover_median: 7s, kills: 20}
)";

std::string mistake(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  const auto read = parse_scenario(text.replace(at, from.size(), to), "x.yaml");
  return read ? "none" : read.error().message;
}

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

}  // namespace

TEST_CASE("a scenario is read as it is written") {
  const auto read = parse_scenario(kGood, "x.yaml");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const ChaosScenario& s = read.value();
  CHECK(s.flock.agents == 3);
  CHECK(s.flock.state == "etcd");
  CHECK(s.load.seconds.least == 0.5);
  CHECK(s.length == 120);
  CHECK(s.seed == 9);
  REQUIRE(s.faults.size() == 4);
  CHECK(s.faults[0].every == 5);
  CHECK(s.faults[1].who[0].count == 2);
  CHECK(s.faults[1].at == std::vector<double>{10, 30});
  CHECK(s.faults[2].direction == Direction::out);
  CHECK(s.faults[2].who[1].all);
  CHECK(s.faults[3].value("times", 0) == 50);
  CHECK(s.expect.takeover_median == 7);
}

TEST_CASE("workers without a size fit the servers") {
  for (const char* text :
       {"name: a\nflock: {gpus: 2}\n", "name: a\nflock: {gpus: 2}\nload: {jobs_per_s: 1}\n"}) {
    const auto read = parse_scenario(text, "x.yaml");
    REQUIRE(read.ok());
    CHECK(read.value().load.gpus == std::vector<std::uint32_t>{1, 1, 2});
  }
  CHECK(parse_scenario("name: a\n", "x.yaml").value().load.gpus ==
        std::vector<std::uint32_t>{1, 1, 2, 4});
  const auto large = parse_scenario("name: a\nflock: {gpus: 2}\nload: {gpus: [4]}\n", "x.yaml");
  REQUIRE_FALSE(large.ok());
  CHECK(has(large.error().message, "from 1 to 2, which is what a server has"));
}

TEST_CASE("every mistake is named with its line and what would be right") {
  CHECK(has(mistake("fault: kill", "fault: kil"),
            "x.yaml:7:13: there is no fault 'kil'; did you mean 'kill'?"));
  CHECK(has(mistake("any agent", "any agnt"),
            "x.yaml:7:24: who: 'any agnt' is no process of a flock; did you mean 'agent'?"));
  CHECK(has(mistake("every: 5s", "evry: 5s"), "unknown key 'evry'"));
  CHECK(has(mistake("every: 5s", "evry: 5s"), "kill does not say when"));
  CHECK(has(mistake("every: 5s, down", "every: 5s, mean: 3s, down"), "says when twice"));
  CHECK(has(mistake("every: 5s", "every: soon"), "'soon' is no length of time"));
  CHECK(has(mistake("[agent 1,", "[agent 7,"), "there is no agent 7; they are numbered 0 to 2"));
  CHECK(has(mistake("who: 2 agents", "who: all etcds"), "is no process of a flock"));
  CHECK(has(mistake("direction: out", "direction: up"), "direction is 'up'"));
  CHECK(has(mistake("at: 40s, times: 50", "at: 400s, times: 50"),
            "at is after the end; length is 120s"));
  CHECK(has(mistake("at: 40s, times: 50", "at: 40s, times: 50, who: any agent"),
            "unknown key 'who'"));
  CHECK(has(mistake("gpus: [1, 4]", "gpus: [1, 8]"), "no whole number from 1 to 4"));
  CHECK(has(mistake("state: etcd", "state: sqlite"), "takeovers happen only with"));
  CHECK(has(mistake("executors: 6", "executors: 2"), "every agent needs one at least"));
  CHECK(has(mistake("fault: storm", "fault: link-down, who: rack 0"), "needs hosts of their own"));
  CHECK(has(mistake("name: mine", "title: mine"), "lacks 'name'"));
  CHECK(has(mistake("who: any agent,", ""), "kill lacks 'who'"));
  CHECK(has(mistake("gangs: 0.5", "gangs: 0.5, manners: [plain, sesion]"),
            "no job has the manner 'sesion'; did you mean 'session'?"));
  CHECK(has(mistake("state: etcd", "state: etcd, orphan: 1s"), "orphan is not within 3s and 300s"));
  CHECK(has(mistake("state: etcd", "state: etcd, disk_mib: 4"), "disk_mib is less than 16"));
  CHECK(has(mistake("fault: storm", "fault: fill-disk, who: any executor"),
            "fill-disk needs file systems of their own; add flock: {disk_mib: 64}"));
  CHECK(has(mistake("kill, who: any agent", "drain, who: any agent"),
            "drain cannot hit 'any agent'"));
}

TEST_CASE("what befalls machines and how jobs behave is read as it is written") {
  const auto read = parse_scenario(R"(name: machines
flock: {orphan: 6s, disk_mib: 64}
load: {manners: [plain, fail-one, escape], submits_per_s: 0.5, submit_kills: 0.4}
faults:
  - {fault: drain, who: any executor, every: 20s, for: 5s, evict: yes}
  - {fault: clock, who: any node, every: 20s, for: 5s, rate: 2}
  - {fault: fill-disk, who: busy executor, every: 20s}
  - {fault: lose, who: executor 7, at: 10s}
)",
                                   "x.yaml");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const ChaosScenario& s = read.value();
  CHECK(s.flock.orphan == 6);
  CHECK(s.flock.disk_mib == 64);
  CHECK(s.load.manners == std::vector{Manner::plain, Manner::fail_one, Manner::escape});
  CHECK(s.load.submit_kills == 0.4);
  CHECK(s.faults[0].value("evict", 0) == 1);
  CHECK(s.faults[1].value("jump_s", 0) == 86'400);
  CHECK(s.faults[1].value("rate", 1) == 2);
  CHECK(s.notes.empty());
}

TEST_CASE("evict is yes or no, and as a number is read and named") {
  const auto drain = [](const std::string& evict) {
    return parse_scenario(
        "name: d\nfaults:\n  - {fault: drain, who: any executor, every: 9s, evict: " + evict +
            "}\n",
        "x.yaml");
  };
  CHECK(drain("no").value().faults[0].value("evict", 1) == 0);
  const auto old = drain("1");
  REQUIRE_MESSAGE(old.ok(), old.error().message);
  CHECK(old.value().faults[0].value("evict", 0) == 1);
  CHECK(old.value().notes ==
        std::vector<std::string>{"x.yaml:3:57: 'evict: 1' is written evict: yes now"});
  CHECK(has(drain("0.5").error().message, "x.yaml:3:57: evict is '0.5'; write yes or no"));
}

TEST_CASE("the scenarios that the program carries are right, and named after their files") {
  CHECK(built_in_scenarios().size() >= 10);
  for (const BuiltIn& built_in : built_in_scenarios()) {
    const auto read = parse_scenario(built_in.text, built_in.name);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(read.value().name == built_in.name);
    CHECK(!read.value().description.empty());
  }
  const auto missing = load_scenario("kill-strom");
  REQUIRE(!missing.ok());
  CHECK(has(missing.error().message, "did you mean 'kill-storm'?"));
}

TEST_CASE("a target is written as it is read") {
  for (const char* text : {"any agent", "agent 2", "3 executors", "all racks", "home of a job",
                           "busy executor", "any node", "all etcd"}) {
    const auto target = parse_target(text);
    REQUIRE(target.ok());
    CHECK(to_text(target.value()) == text);
  }
}

TEST_CASE("the same seed gives the same plan, another one another") {
  ChaosScenario s = parse_scenario(kGood, "x").value();
  const auto times = [](const ChaosScenario& scenario) {
    std::vector<double> at;
    for (const PlannedFault& f : plan_of(scenario)) at.push_back(f.at + f.lasts + f.down);
    return at;
  };
  const auto first = times(s);
  CHECK(first == times(s));
  CHECK(first.size() > 25);
  const auto plan = plan_of(s);
  CHECK(std::is_sorted(plan.begin(), plan.end(),
                       [](const auto& a, const auto& b) { return a.at < b.at; }));
  s.seed = 10;
  CHECK(first != times(s));
  s.length *= 3;  // as --minutes does
  CHECK(times(s).size() > 2 * first.size());
}
