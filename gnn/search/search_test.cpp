// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "gnn/marl/encoder_net.h"
#include "gnn/wiring/registry.h"
#include "interference/models.h"
#include "policies/lif/lif.h"
#include "policies/placement/placement_policy.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

using std::chrono::seconds;

constexpr PolicyFacts kFacts{.name = "test",
                             .summary = "",
                             .family = Family::placement,
                             .needs_running = true,
                             .shares_gpus = true};

// Two on a GPU run at two thirds each.
struct TwoThirds final : SpeedModel {
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours& beside) const override {
    for (const Neighbour& other : beside) {
      if (std::binary_search(other.placement.begin(), other.placement.end(), placement.front()))
        return {2.0 / 3, 0};
    }
    return {1, 0};
  }
};

RolloutArrival arrival(std::uint64_t id, double after_s, double work_s, std::uint32_t workers = 1) {
  RolloutArrival job;
  job.after = from_seconds(after_s);
  job.spec.id = {1, id};
  job.spec.workers = workers;
  job.spec.duration = from_seconds(work_s);
  job.work_s = work_s;
  return job;
}

/// lif with that threshold, whose decisions `chooser` makes if there is one.
std::unique_ptr<Policy> lif(double threshold, Chooser* chooser = nullptr) {
  return std::make_unique<PlacementPolicy>(
      PlacementSystem{kFacts, {}, PlacementOrder::arrival, std::make_unique<Lif>(threshold)},
      chooser);
}

double play(const Topology& topology, const SpeedModel& speed, const RolloutFuture& future,
            Policy& policy) {
  const Occupancy empty(topology, {0, topology.server_count()}, 2);
  const View view{topology, empty, {}, {}, {}, speed, Instant{}, {}};
  Rollout rollout;
  const RolloutResult result = rollout.run(RolloutStart(view, future), {}, policy);
  CHECK(result.complete);
  return result.cost_s;
}

// Again and again a job comes a moment before one of two GPUs gets free.
RolloutFuture moments() {
  RolloutFuture future;
  std::uint64_t id = 0;
  for (int i = 0; i < 60; ++i) {
    const double at = 10000.0 * i;
    future.arrivals.push_back(arrival(++id, at, 5000));
    future.arrivals.push_back(arrival(++id, at + 1, 2000));
    future.arrivals.push_back(arrival(++id, at + 1990, 1500));
  }
  return future;
}

TEST_CASE("search waits where the rule would share, if that is shorter, and only then") {
  const Topology topology = generate_flat({.servers = 1, .gpus_per_server = 2}).value();
  const TwoThirds speed;
  const double without = play(topology, speed, moments(), *lif(0.3));
  SearchChooser chooser({.samples = 3, .arrivals = 0});
  const double with = play(topology, speed, moments(), *lif(0.3, &chooser));
  CHECK(with < without - 40 * 100);
  CHECK(chooser.counts().changed >= 40);
  CHECK(chooser.counts().searches <= 2 * chooser.counts().changed);
  CHECK(chooser.counts().rollouts > 0);

  SearchChooser sure({.samples = 3, .arrivals = 0, .margin = 0});
  CHECK(play(topology, speed, moments(), *lif(0.3, &sure)) == without);
  CHECK(sure.counts().rollouts == 0);

  SearchChooser again({.samples = 3, .arrivals = 0});
  CHECK(play(topology, speed, moments(), *lif(0.3, &again)) == with);
  CHECK(again.counts().events == chooser.counts().events);
}

TEST_CASE("a search that takes what scores highest does as lif; the quick rule comes close") {
  const Topology topology =
      generate_leaf_spine(
          {.groups = {{4, "V100"}, {4, "K80"}}, .gpus_per_server = 4, .servers_per_rack = 4})
          .value();
  const auto speed = make_analytic_speed(topology);
  const auto models = gavel_models();
  Rng rng(3);
  RolloutFuture future;
  double at = 0;
  for (std::uint64_t id = 1; id <= 400; ++id) {
    at += 150 * rng.exponential();
    const std::uint32_t size = 1U << rng.below(4);
    future.arrivals.push_back(arrival(id, at, 100 + 3000 * rng.exponential(), size));
    future.arrivals.back().spec.model =
        models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  }
  PolicyRegistry registry = make_policy_registry();
  const auto rule = registry.make("lif:threshold=0.3").value();
  const double expected = play(topology, *speed, future, *rule);
  struct Best final : Chooser {
    std::size_t choose(const DecisionPoint&, std::span<const double> scores) override {
      return best_of(scores);
    }
  } best;
  CHECK(play(topology, *speed, future, *lif(0.3, &best)) == expected);
  PairSpeeds pairs(topology, *speed);
  QuickLif quick(pairs);
  const double close = play(topology, *speed, future, quick);
  CAPTURE(close / expected);
  CHECK(close < 1.15 * expected);
  CHECK(close > 0.85 * expected);
  QuickLif second(pairs);
  CHECK(play(topology, *speed, future, second) == close);
}

TEST_CASE("where jobs slow only those on their own GPUs the quick rule is lif") {
  const Topology topology = generate_flat({.servers = 6, .gpus_per_server = 1}).value();
  const TwoThirds speed;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Rng rng(seed);
    RolloutFuture future;
    double at = 0;
    for (std::uint64_t id = 1; id <= 300; ++id) {
      at += 200 * rng.exponential();
      future.arrivals.push_back(arrival(id, at, 100 + 3000 * rng.exponential()));
    }
    PairSpeeds pairs(topology, speed);
    QuickLif quick(pairs);
    CHECK(play(topology, speed, future, quick) == play(topology, speed, future, *lif(0.3)));
  }
}

TEST_CASE("the quick rule asks by expected GPU time if it is told to") {
  const Topology topology = generate_flat({.servers = 1, .gpus_per_server = 1}).value();
  const auto speed = make_flat_speed();
  const Occupancy empty(topology, {0, 1}, 1);
  RolloutFuture future;
  for (const double work_s : {100, 3000, 50, 1000}) {
    future.arrivals.push_back(arrival(future.arrivals.size() + 1, 0, work_s));
  }
  const auto cost = [&](PlacementOrder order) {
    PairSpeeds pairs(topology, *speed);
    QuickLif quick(pairs, order);
    const View view{topology, empty, {}, {}, {}, *speed, Instant{}, {}};
    return Rollout().run(RolloutStart(view, future), {}, quick).cost_s;
  };
  CHECK(cost(PlacementOrder::arrival) == doctest::Approx(100 + 3100 + 3150 + 4150));
  CHECK(cost(PlacementOrder::forecast) == doctest::Approx(50 + 150 + 1150 + 4150));
}

TEST_CASE("what waiting jobs are expected to take is told to policies, whatever they take") {
  const Topology topology = generate_flat({.servers = 1, .gpus_per_server = 1}).value();
  const auto speed = make_flat_speed();
  const Occupancy empty(topology, {0, 1}, 1);
  std::vector<JobSpec> specs(2);
  std::vector<JobView> waiting(2);
  for (std::size_t i = 0; i < 2; ++i) {
    specs[i].id = {1, i + 1};
    waiting[i].spec = &specs[i];
    waiting[i].order = i;
    waiting[i].served = seconds(i == 0 ? 500 : 0);  // it has run before
  }
  const View view{topology, empty, waiting, {}, {}, *speed, Instant{}, {}};
  const auto cost = [&](std::vector<double> expected_s) {
    RolloutFuture future;
    future.waiting_s = {100, 1000};
    future.expected_s = std::move(expected_s);
    PairSpeeds pairs(topology, *speed);
    QuickLif quick(pairs, PlacementOrder::forecast);
    return Rollout().run(RolloutStart(view, std::move(future)), {}, quick).cost_s;
  };
  CHECK(cost({}) == doctest::Approx(100 + 1100));
  CHECK(cost({60, 70}) == doctest::Approx(100 + 1100));
  CHECK(cost({70, 60}) == doctest::Approx(1000 + 1100));
}

TEST_CASE("two partitions search, too, each its own, and say why") {
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 2}).value();
  const TwoThirds speed;
  PolicyRegistry registry = make_policy_registry();
  add_gnn_policies(registry);
  const auto policy = registry.make("marl-search:samples=3,margin=9,errors=0").value();
  const TypeRoom room{GpuTypeId{0}, 2, 2, 0};
  RemoteDigest other;
  other.agent = AgentId{1};
  other.partition = PartitionId{1};
  other.gpus = other.free = other.largest_free_server = 2;
  other.servers = {1, 2};
  other.types = {&room, 1};
  Occupancy gpus(topology, {0, 1}, 2);
  std::vector<std::unique_ptr<JobSpec>> specs;
  std::vector<JobView> running;
  Rng rng(1);
  std::size_t given = 0, explained = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Instant now(seconds(100 * static_cast<int>(i)));
    specs.push_back(std::make_unique<JobSpec>());
    specs.back()->id = {1, i + 1};
    JobView job;
    job.spec = specs.back().get();
    job.order = i;
    job.submitted = now;
    for (JobView& runs : running) runs.served += seconds(100);
    if (running.size() >= 3) {
      gpus.give_back(running.front().placement);
      running.erase(running.begin());
    }
    other.at = now;
    const View view{topology, gpus, {&job, 1}, running, {&other, 1}, speed, now, AgentId{0}};
    for (const Decision& decision : policy->decide(view, {TriggerKind::arrival}, rng)) {
      if (std::holds_alternative<Forward>(decision)) ++given;
      if (const auto* start = std::get_if<Start>(&decision)) {
        job.placement = start->placement;
        gpus.take(start->placement);
        running.push_back(job);
      }
    }
    if (!policy->explain(job.spec->id).empty()) ++explained;
    CHECK(policy->summary().size() == EncoderNet::kWidth);
  }
  CHECK(given > 0);
  CHECK(explained == 200);
}

// Nothing runs yet when it is asked.
struct Told final : Oracle {
  struct World final : Physics {
    [[nodiscard]] double rate(const JobProfile& job, const Placement& placement,
                              const Neighbours& beside) const override {
      return speed.speed(job, placement, beside).relative;
    }
    [[nodiscard]] bool varies() const noexcept override { return true; }
    [[nodiscard]] double startup_s(const JobProfile&) const override { return 0; }
    TwoThirds speed;
  };
  [[nodiscard]] const Trace& trace() const override { return jobs; }
  [[nodiscard]] const Physics& physics() const override { return world; }
  [[nodiscard]] Left left(JobId) const override { return {5, 3}; }
  Trace jobs;
  World world;
};

TEST_CASE(
    "the true future: what is left of each job, then the jobs that come, without a duration") {
  const Topology topology = generate_flat({.servers = 1, .gpus_per_server = 2}).value();
  const TwoThirds speed;
  Trace trace;
  for (const RolloutArrival& job :
       {arrival(1, 0, 1000), arrival(2, 0, 600), arrival(3, 100, 50), arrival(4, 300, 70)}) {
    trace.jobs.push_back({job.after, job.spec});
  }
  const TrueFuture future(trace);
  struct Asks final : Chooser {
    explicit Asks(const TrueFuture& f) : future(f) {}
    std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
      if (point.job.spec->id == JobId{1, 3}) seen = future.at(point, 1);
      return best_of(scores);
    }
    const TrueFuture& future;
    RolloutFuture seen;
  } asks(future);
  RolloutFuture jobs;
  for (const TraceJob& job : trace.jobs)
    jobs.arrivals.push_back({job.submit, job.spec, starling::seconds(job.spec.duration)});
  (void)play(topology, speed, jobs, *lif(0, &asks));
  CHECK(asks.seen.waiting_s == std::vector<double>{50});
  REQUIRE(asks.seen.running_s.size() == 2);
  CHECK(asks.seen.running_s[0] == doctest::Approx(900));
  CHECK(asks.seen.running_s[1] == doctest::Approx(500));
  REQUIRE(asks.seen.arrivals.size() == 1);
  CHECK(asks.seen.arrivals[0].after == std::chrono::seconds(200));
  CHECK(asks.seen.arrivals[0].work_s == 70);
  CHECK(asks.seen.arrivals[0].spec.duration == Duration::zero());

  Told told;
  told.jobs = trace;
  const TrueFuture better(told);
  Asks knows(better);
  (void)play(topology, speed, jobs, *lif(0, &knows));
  CHECK(knows.seen.running_s == std::vector<double>{5, 5});
  CHECK(knows.seen.starting_s == std::vector<double>{3, 3});
}

TEST_CASE("options of marl-search are checked") {
  PolicyRegistry registry = make_policy_registry();
  add_gnn_policies(registry);
  CHECK(registry.make("marl-search").ok());
  CHECK(registry.make("marl-search:base=lif,samples=8,candidates=4,errors=2,budget=50").ok());
  CHECK(registry.make("marl-search:order=trained,margin=1,again=5").ok());
  CHECK_FALSE(registry.make("marl-search:margin=-1").ok());
  CHECK_FALSE(registry.make("marl-search:order=none").ok());
  CHECK_FALSE(registry.make("marl-search:samples=1").ok());
  CHECK_FALSE(registry.make("marl-search:base=none").ok());
  CHECK_FALSE(registry.make("marl-search:speed=1").ok());
  const auto made = registry.make("marl-search:base=lif,weights=x");
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().message ==
        "policy 'marl-search': option weights is of a learned base, and lif is none; leave it out");
}

}  // namespace
}  // namespace starling
