// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/sampled_future.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "gnn/search/rollout.h"
#include "interference/models.h"
#include "policies/lif/lif.h"
#include "policies/placement/placement_policy.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr PolicyFacts kFacts{.name = "test",
                             .summary = "",
                             .family = Family::placement,
                             .needs_running = true,
                             .shares_gpus = true};
constexpr std::uint32_t kFutures = 8;

/// Draws futures, each twice, when it is asked about one job.
struct Draws final : Chooser {
  explicit Draws(JobId job) : about(job) {}
  void begin(const DecisionContext& context) override { sampler.observe(context.view); }
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    if (point.job.spec->id == about && drawn.empty()) {
      knows = sampler.knows() && point.remaining.draws();
      for (std::uint32_t i = 0; i < kFutures; ++i) {
        const FutureSampler::Which which{i, kFutures, 5};
        drawn.push_back(sampler.draw(point, hours(2), 10, which));
        again.push_back(sampler.draw(point, hours(2), 10, which));
      }
    }
    return best_of(scores);
  }
  JobId about;
  bool knows = false;
  FutureSampler sampler;
  std::vector<RolloutFuture> drawn, again;
};

/// Plays jobs on eight GPUs under a rule that shows its choices.
struct Home {
  RolloutFuture jobs;
  double at_s = 0;

  JobId came(const std::string& user, double work_s, Duration estimate = {}) {
    RolloutArrival& job = jobs.arrivals.emplace_back();
    job.after = from_seconds(at_s);
    job.spec.id = {1, jobs.arrivals.size()};
    job.spec.user = user;
    job.spec.duration = estimate;
    job.work_s = work_s;
    return job.spec.id;
  }
  void ran(const std::string& user, double work_s) {
    came(user, work_s);
    at_s += 600;
  }
  Draws play(JobId about) const {
    const Topology topology = generate_flat({.servers = 8, .gpus_per_server = 1}).value();
    const auto speed = make_flat_speed();
    const Occupancy empty(topology, {0, 8}, 2);
    const View view{topology, empty, {}, {}, {}, *speed, Instant{}, {}};
    Draws draws(about);
    PlacementPolicy rule({kFacts, {}, PlacementOrder::forecast, std::make_unique<Lif>(0.3)},
                         &draws);
    Rollout rollout;
    CHECK(rollout.run(RolloutStart(view, jobs), {}, rule).complete);
    REQUIRE(draws.drawn.size() == kFutures);
    return draws;
  }
};

TEST_CASE("futures are drawn from how long jobs ran and from which came") {
  Home home;
  for (int i = 0; i < 96; ++i) home.ran(std::to_string(i), 100 * (i % 32 + 1));
  home.at_s += 4000;
  home.came("ends first", 100);
  home.at_s += 1;
  home.came("running", 3000, seconds(3000));
  home.at_s += 1;
  home.came("runs", 3000);
  home.at_s += 1650;
  const JobId waiting = home.came("waiting", 1);
  home.came("estimated", 77, seconds(77));
  const Draws draws = home.play(waiting);
  CHECK(draws.knows);
  std::vector<double> whole, rest;
  for (std::size_t i = 0; i < kFutures; ++i) {
    const RolloutFuture& future = draws.drawn[i];
    REQUIRE(future.waiting_s.size() == 2);
    REQUIRE(future.running_s.size() == 2);
    CHECK(future.waiting_s[1] == 77);
    CHECK(future.running_s[0] == doctest::Approx(3000 - 1651));
    whole.push_back(future.waiting_s[0]);
    rest.push_back(future.running_s[1]);
    CHECK(future.arrivals.size() <= 10);
    CHECK_FALSE(future.arrivals.empty());
    Duration last{0};
    for (const RolloutArrival& arrival : future.arrivals) {
      CHECK(arrival.after >= last);
      CHECK(arrival.after <= hours(2));
      CHECK(arrival.spec.workers == 1);
      CHECK(arrival.work_s > 0);
      CHECK(arrival.work_s < 10'000);
      last = arrival.after;
    }
    CHECK(draws.again[i].waiting_s == future.waiting_s);
    CHECK(draws.again[i].running_s == future.running_s);
    REQUIRE(draws.again[i].arrivals.size() == future.arrivals.size());
    for (std::size_t k = 0; k < future.arrivals.size(); ++k) {
      CHECK(draws.again[i].arrivals[k].after == future.arrivals[k].after);
      CHECK(draws.again[i].arrivals[k].work_s == future.arrivals[k].work_s);
    }
  }
  // One of each eighth of the past, which went from 100 to 3200.
  std::sort(whole.begin(), whole.end());
  std::sort(rest.begin(), rest.end());
  CHECK(whole.front() < 600);
  CHECK(whole[3] > 900);
  CHECK(whole[3] < 2400);
  CHECK(whole.back() > 2400);
  CHECK(rest.front() < 600);
  CHECK(rest.back() > 900);
  CHECK(rest.back() < whole.back());
}

TEST_CASE("what the same people ran before says more than others do") {
  Home home;
  home.came("base", 1e8);  // a job always runs, so that every end is seen
  for (int i = 0; i < 80; ++i) {
    home.ran("short", 10);
    home.at_s += 5'000;
    home.ran("long", 5'000);
    home.at_s += 5'000;
  }
  const JobId first = home.came("short", 1);
  home.came("long", 1);
  const Draws draws = home.play(first);
  for (const RolloutFuture& future : draws.drawn) {
    REQUIRE(future.waiting_s.size() == 2);
    CHECK(future.waiting_s[0] < 50);
    CHECK(future.waiting_s[1] > 1'000);
  }
}

TEST_CASE("without a past nothing is known") {
  Home home;
  const JobId first = home.came("a", 1);
  home.came("b", 1);
  CHECK_FALSE(home.play(first).knows);
}

}  // namespace
}  // namespace starling
