// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "policies/rank/rank_rig_test.h"
#include "policies/testing/battery.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE(
    "a job that comes starts at once on what is free, and a round gives it what it is worth") {
  RankRig rig(servers(1));
  rig.submit(elastic_spec(8, 50'000));
  rig.round();
  CHECK(rig.gpus_of(0) == 8);
  rig.submit(elastic_spec(4, 300));
  rig.now += 10s;
  CHECK(rig.settle(TriggerKind::arrival).empty());  // nothing is free, and it is no round yet
  rig.round(120s);
  CHECK(rig.gpus_of(1) == 4);
  CHECK(rig.gpus_of(0) == 4);
  rig.end(1);
  rig.now += 10s;
  rig.settle(TriggerKind::departure);  // no job waits: one that runs grows
  CHECK(rig.gpus_of(0) == 8);
  rig.submit(elastic_spec(2, 300));
  rig.end(0);
  rig.settle(TriggerKind::departure);
  CHECK(rig.gpus_of(0) == 2);
}

TEST_CASE("a job alone has all that it can use, though its own last step alone sets the price") {
  for (int i = 0; i < 21; ++i) {
    RankRig rig(servers(1));
    rig.submit(elastic_spec(8, 40'000 + 777.7 * i));
    rig.submit(elastic_spec(static_cast<std::uint32_t>(1 + i % 7), 900));  // before it
    rig.round();
    REQUIRE(rig.gpus_of(0) < 8);
    rig.end(1);
    rig.round(120s);
    CHECK(rig.gpus_of(0) == 8);
  }
}

TEST_CASE("no job is stopped or resized to gain less than two restarts") {
  RankRig rig(servers(1));
  JobSpec first = rigid_spec(2, 10'000);
  first.priority = 1;
  rig.submit(first);
  rig.submit(elastic_spec(8, 60));
  rig.round();
  REQUIRE(rig.gpus_of(1) == 6);
  // The one minute left of it on six GPUs is not worth a restart to have two more.
  rig.end(0);
  rig.now += 10s;
  CHECK(rig.settle(TriggerKind::departure).empty());
  CHECK(rig.round(120s).empty());
}

TEST_CASE("rounds without news change nothing") {
  RankRig rig(servers(3));
  Rng rng(9);
  for (int i = 0; i < 30; ++i)
    rig.submit(elastic_spec(1 + rng.below(8), 1000 + 100'000 * rng.uniform()));
  rig.round();
  std::size_t changes = 0;
  for (int i = 0; i < 20; ++i) {
    rig.pass(120s);
    changes += rig.settle(TriggerKind::round).size();
  }
  CHECK(changes <= 6);  // as the ranks of those who have run change
}

TEST_CASE("rigid jobs are stopped for no other, unless they say what that costs them") {
  for (const bool tells : {false, true}) {
    RankRig rig(servers(1));
    JobSpec rigid = rigid_spec(8, 1e6);
    if (tells) rigid.run.restore = 20s;
    rig.submit(rigid);
    rig.round();
    REQUIRE(rig.gpus_of(0) == 8);
    for (int i = 0; i < 3; ++i) rig.submit(elastic_spec(8, 100));
    rig.submit(rigid_spec(2, 20));
    rig.round(120s);
    CHECK(rig.gpus_of(0) == (tells ? 0 : 8));
    CHECK(rig.gpus_of(4) == (tells ? 2 : 0));
  }
}

TEST_CASE("a rigid gang that has waited for its patience is passed by no rigid job any more") {
  // A job of two GPUs ends every ten minutes, and another is there to follow.
  RankRig rig(servers(1), {.believes = true, .patience_s = 7200});
  for (int i = 0; i < 4; ++i) rig.submit(rigid_spec(2, 2400));
  rig.round();
  rig.submit(rigid_spec(8, 2400));
  const auto gang_runs = [&] {
    return std::ranges::any_of(rig.jobs, [](const JobView& j) { return j.placement.size() == 8; });
  };
  int rounds = 0;
  for (; rounds < 100 && !gang_runs(); ++rounds) {
    rig.pass(600s);
    const auto oldest =
        std::ranges::find_if(rig.jobs, [](const JobView& j) { return j.placement.size() == 2; });
    if (oldest != rig.jobs.end()) rig.end(static_cast<std::size_t>(oldest - rig.jobs.begin()));
    rig.submit(rigid_spec(2, 2400));
    rig.settle(TriggerKind::round);
  }
  CHECK(rounds >= 12);
  CHECK(rounds <= 20);
}

TEST_CASE("no job waits for ever while shorter jobs keep coming") {
  RankRig rig(servers(1), {.believes = true, .patience_s = 3600});
  rig.submit(elastic_spec(1, 1e6));
  for (int i = 0; i < 8; ++i) rig.submit(elastic_spec(1, 100));
  rig.settle(TriggerKind::round);
  REQUIRE(rig.gpus_of(0) == 0);
  int rounds = 0;
  for (; rounds < 100 && rig.gpus_of(0) == 0; ++rounds) {
    rig.pass(120s);
    while (rig.jobs.size() > 1) rig.end(1);
    for (int i = 0; i < 8; ++i) rig.submit(elastic_spec(1, 100));
    rig.settle(TriggerKind::round);
  }
  CHECK(rounds > 10);
  CHECK(rounds <= 32);
  for (; rounds < 60; ++rounds) {  // nor is it stopped for the next that come
    rig.pass(120s);
    while (rig.jobs.size() > 1) rig.end(1);
    for (int i = 0; i < 8; ++i) rig.submit(elastic_spec(1, 100));
    rig.settle(TriggerKind::round);
    CHECK(rig.gpus_of(0) == 1);
  }
}

TEST_CASE("a job in a bad place moves to a better one once there is room") {
  RankRig rig(servers(2));
  const ApartIsSlow speed(rig.topology);
  rig.speed = &speed;
  rig.submit(rigid_spec(5, 1e5));
  rig.submit(rigid_spec(5, 1e5));
  rig.submit(elastic_spec(6, 1e5));
  rig.round();
  REQUIRE(rig.gpus_of(2) > 0);
  rig.end(0);
  rig.round(120s);
  rig.round(120s);
  const Placement& place = rig.jobs[1].placement;
  CHECK(place.size() == 6);
  CHECK(rig.topology.server_of(place.front()) == rig.topology.server_of(place.back()));
}

TEST_CASE("it says why a job has what it has, and what would have to change") {
  RankRig rig(servers(1));
  rig.submit(elastic_spec(8, 1000));
  rig.submit(elastic_spec(8, 9000));
  rig.submit(elastic_spec(8, 80'000));
  rig.round();
  CHECK(
      says(rig.why(0),
           "3 of the 3 jobs that shared what there was, itself one of them, were at least as long "
           "as it; 1000 s of it were expected to be left, and it got 8 GPUs of V100"));
  CHECK(says(rig.why(0), "more GPUs would not make it faster"));
  CHECK(says(rig.why(2), "it got none"));
  CHECK(says(rig.why(2), "for 1 GPU of V100 each GPU more is worth"));
  CHECK(says(rig.why(2), "times as many jobs were at least as long as it"));
  CHECK(rig.policy->explain(JobId{7, 7}).empty());

  RankRig alone(servers(1));
  alone.submit(elastic_spec(8, 1000));
  alone.round();
  CHECK(says(alone.why(0),
             "no other job shared what there was with it; 1000 s of it were expected to be left, "
             "and it got 8 GPUs of V100"));
}

TEST_CASE("it says when a job is expected to start, and that it was stopped") {
  RankRig rig(servers(1));
  rig.submit(elastic_spec(8, 9000));
  rig.round();
  rig.submit(elastic_spec(8, 1000));
  rig.now += std::chrono::seconds(1);
  rig.settle(TriggerKind::arrival);
  CHECK(says(rig.why(1), "the next round divides all GPUs anew, and it has its part in that"));
  rig.round(120s);
  REQUIRE(rig.gpus_of(0) == 0);
  // A thousand seconds at one GPU, on eight.
  CHECK(says(rig.why(0), "it was stopped at 181 s: what it had is worth more to others"));
  CHECK(says(rig.why(0), "it is expected to start about 142 s after that, when " +
                             to_string(rig.jobs[1].spec->id) + " is to have ended"));
  rig.round(60s);
  CHECK(says(rig.why(0), "it was stopped at 181 s"));
  CHECK(says(rig.why(1), "it got 8 GPUs of V100"));
  rig.end(1);
  rig.round(60s);
  CHECK(!says(rig.why(0), "it was stopped"));
}

TEST_CASE("by default estimates are not looked at: jobs are as long as others of their kind were") {
  const auto shares = [](bool believes) {
    RankRig rig(servers(1), {.believes = believes});
    const auto job = [](const std::string& user, double told) {
      JobSpec spec = elastic_spec(8, told);
      spec.user = user;
      return spec;
    };
    for (int i = 0; i < 40; ++i) {
      rig.submit(job("quick", 5)), rig.submit(job("slow", 5));
      rig.settle(TriggerKind::round);
      rig.pass(60s);
      rig.end(0);
      rig.settle(TriggerKind::departure);
      rig.pass(std::chrono::hours(4));
      rig.end(0);
      rig.settle(TriggerKind::departure);
    }
    rig.now += 1s;
    rig.submit(job("slow", 10)), rig.submit(job("quick", 1e6));  // both are lies
    rig.settle(TriggerKind::round);
    return std::pair(rig.gpus_of(0), rig.gpus_of(1));
  };
  const auto [slow, quick] = shares(false);
  CHECK(quick > slow);
  const auto [told_short, told_long] = shares(true);
  CHECK(told_short > told_long);
}

TEST_CASE("what it has learned outlives it") {
  RankRig rig(servers(1), {});
  for (int i = 0; i < 50; ++i) {
    rig.submit(elastic_spec(4, 0));
    rig.settle(TriggerKind::round);
    rig.pass(100s);
    if (i % 2 == 0) rig.end(0);
  }
  const auto memory = rig.policy->save(Instant{});
  rig.policy = std::make_unique<RankPolicy>(RankOptions{});
  REQUIRE(rig.policy->restore(memory, Instant{}).ok());
  CHECK(rig.policy->save(Instant{}) == memory);
  CHECK(!rig.policy->restore(std::span(memory).first(memory.size() - 8), Instant{}).ok());
  CHECK(rig.policy->save(Instant{}) == memory);
}

TEST_CASE("a job that runs on slow GPUs moves to another partition once fast ones are free there") {
  GeneratorOptions options;
  options.groups = {{1, "V100"}, {1, "P100"}};
  const Topology topology = generate_flat(options).value();
  const CrowdedSpeed speed(topology);  // half on a P100
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  for (std::uint64_t i = 0; i < 8; ++i)
    trace.jobs.push_back(elastic(i + 1, 0, 1, 4000));  // fill the V100s
  trace.jobs.push_back(elastic(9, 60, 1, 20'000));
  TestWorld world(topology, registry, "rank", {.agents = 2, .model = &speed});
  world.run(trace);
  CHECK(world.faults.empty());
  REQUIRE(world.jobs.back().finished != kNever);
  CHECK(world.jobs.back().starts >= 2);
  CHECK(seconds(world.jobs.back().finished - world.jobs.back().submitted) < 30'000);
}

TEST_CASE("the shortest of a batch end first, and the mean is near that of the best order") {
  const PolicyRegistry registry = make_policy_registry();
  Trace trace;
  for (std::uint64_t i = 0; i < 20; ++i)
    trace.jobs.push_back(elastic(i + 1, 0, 16, 200.0 * static_cast<double>(1 + i * i)));
  const auto mean = [&](const std::string& policy) {
    TestWorld world(servers(2), registry, policy, {});
    world.run(trace);
    CHECK(world.faults.empty());
    return world.mean_jct_s();
  };
  const double ours = mean("rank:lengths=exact");
  CHECK(ours < 0.75 * mean("drf"));
  CHECK(ours < mean("optimus"));
  CHECK(ours < mean("rank"));
}

}  // namespace
}  // namespace starling
