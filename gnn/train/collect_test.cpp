// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/collect.h"

#include <algorithm>
#include <map>
#include <set>

#include "gnn/marl/features.h"
#include "gnn/marl/marl_observation.h"
#include "gnn/shipped_weights.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"

namespace starling {
namespace {

const std::vector<float>& own_of(const SeenDecision& seen) {
  return static_cast<const MarlObservation&>(*seen.observation).own;
}

/// What the teacher would do in the states that it leads to itself, where GPUs are short: on empty
/// servers all teachers do the same.
SeenDecisions taught_by(const std::string& teacher) {
  ImitateOptions options;
  options.teacher = teacher;
  options.keep = options.follow = 1;
  Scenario busy = small_scenario(1);
  for (TraceJob& job : busy.trace.jobs) job.submit /= 8;
  return collect_teacher(marl(), busy, shipped_weights("marl").value(), options).value();
}

TEST_CASE("any placement policy teaches: one of its choice is certain in every decision") {
  const auto hash = [](const SeenDecisions& seen) {
    std::uint64_t sum = 0;
    for (const SeenDecision& one : seen.all) sum = sum * 31 + one.chosen;
    return sum;
  };
  const SeenDecisions lif = taught_by("lif:threshold=0.3"), greedy = taught_by("smart-greedy");
  for (const SeenDecisions* seen : {&lif, &greedy}) {
    CHECK(seen->all.size() >= 100);
    for (const SeenDecision& one : seen->all) {
      REQUIRE(one.target.size() == one.options);
      CHECK(one.target[one.chosen] == 1);
      CHECK(std::ranges::count(one.target, 0.0F) == one.options - 1);
      CHECK(own_of(one).size() == one.options * Features::kOwn);
    }
  }
  CHECK(hash(lif) != hash(greedy));
  CHECK(hash(taught_by("smart-greedy")) == hash(greedy));
}

TEST_CASE("runs of one data centre in one part and in several keep the parts apart") {
  Scenario whole = small_scenario(1), halves = whole;
  halves.agents = 2;
  const Weights weights = shipped_weights("marl").value();
  SeenDecisions seen = collect_teacher(marl(), whole, weights, {}).value();
  seen.append(collect_teacher(marl(), halves, weights, {}).value());
  std::map<std::uint32_t, std::set<std::size_t>> gpus;
  for (const SeenDecision& one : seen.all) {
    const auto& made = static_cast<const MarlObservation&>(*one.observation);
    gpus[one.partition].insert(made.shape->gpus.size());
  }
  CHECK(gpus == std::map<std::uint32_t, std::set<std::size_t>>{{0, {24}}, {1, {12}}, {2, {12}}});
}

TEST_CASE("partitions are numbered as they came, wherever in memory their data centres are") {
  const Scenario one = small_scenario(1), two = small_scenario(2);
  const Weights weights = shipped_weights("marl").value();
  for (const auto& [first, second] : {std::pair{&one, &two}, std::pair{&two, &one}}) {
    SeenDecisions both = collect_teacher(marl(), *first, weights, {}).value(), all;
    both.append(collect_teacher(marl(), *second, weights, {}).value());
    all.append(both);
    REQUIRE(all.all.size() == both.all.size());
    for (std::size_t i = 0; i < all.all.size(); ++i)
      CHECK(all.all[i].partition == both.all[i].partition);
    CHECK(all.all.back().partition == 1);
  }
}

TEST_CASE("what cannot teach says why") {
  const auto refusal = [](const std::string& policy) {
    return check_teacher(policy).error().message;
  };
  CHECK(check_teacher("marl").ok());
  CHECK(refusal("load-balance").find("lists places of its own") != std::string::npos);
  CHECK(refusal("sjf").find("does not choose among places") != std::string::npos);
}

}  // namespace
}  // namespace starling
