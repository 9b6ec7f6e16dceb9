#include "gnn/sampled_future.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "interference/models.h"
#include "topology/generate.h"

namespace starling {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST_CASE("what is left comes from those that had more, and the oldest are forgotten") {
  PastTotals totals;
  for (int i = 10; i >= 1; --i) totals.add(i);
  CHECK(totals.above(5) == 5);
  CHECK(totals.left_s(5, 0) == 1);
  CHECK(totals.left_s(5, 0.99) == 5);
  CHECK(totals.left_s(0, 0.5) == 6);
  for (std::size_t i = 0; i < PastTotals::kWindow; ++i) totals.add(20);
  CHECK(totals.size() == PastTotals::kWindow);
  CHECK(totals.above(19) == PastTotals::kWindow);
}

// Shows a sampler what a home sees.
struct Home {
  Topology topology = generate_flat({.servers = 8}).value();
  std::unique_ptr<SpeedModel> speed = make_flat_speed();
  Occupancy gpus{topology, {0, 8}};
  std::vector<std::unique_ptr<JobSpec>> specs;
  std::vector<JobView> waiting, running;
  Instant now{hours(1)};
  std::uint64_t jobs = 0;
  FutureSampler sampler;

  JobView job(std::uint32_t workers, Duration estimate = {}) {
    specs.push_back(std::make_unique<JobSpec>());
    specs.back()->id = {1, ++jobs};
    specs.back()->workers = workers;
    specs.back()->duration = estimate;
    JobView view;
    view.spec = specs.back().get();
    view.order = jobs;
    view.submitted = now;
    return view;
  }
  [[nodiscard]] View view() const {
    return {topology, gpus, waiting, running, {}, *speed, now, {}};
  }
  void look() { sampler.observe(view()); }
  // Runs for so long and ends.
  void ran(std::uint32_t workers, Duration time) {
    waiting = {job(workers)};
    look();
    running = {waiting[0]};
    running[0].placement.resize(workers);
    waiting.clear();
    look();
    now += time;
    running.clear();
    look();
  }
};

TEST_CASE("futures are drawn from how long jobs ran and from who came") {
  Home home;
  CHECK_FALSE(home.sampler.knows());
  for (int i = 1; i <= 32; ++i) home.ran(1, seconds(100 * i));
  CHECK(home.sampler.knows());
  home.waiting = {home.job(1), home.job(1, seconds(77))};
  home.running = {home.job(1)};
  home.running[0].served = seconds(1650);
  home.running[0].placement.resize(1);

  std::vector<double> whole, rest;
  for (std::uint32_t sample = 0; sample < 8; ++sample) {
    const FutureSampler::Which which{sample, 8, 5};
    const RolloutFuture future = home.sampler.draw(home.view(), hours(2), 10, which);
    REQUIRE(future.waiting_s.size() == 2);
    REQUIRE(future.running_s.size() == 1);
    CHECK(future.waiting_s[1] == 77);
    whole.push_back(future.waiting_s[0]);
    rest.push_back(future.running_s[0]);
    CHECK(future.arrivals.size() <= 10);
    CHECK_FALSE(future.arrivals.empty());
    Duration last{0};
    for (const RolloutArrival& arrival : future.arrivals) {
      CHECK(arrival.after >= last);
      CHECK(arrival.after <= hours(2));
      CHECK(arrival.spec.workers == 1);
      CHECK(arrival.work_s >= 100);
      CHECK(arrival.work_s <= 3200);
      last = arrival.after;
    }
    const RolloutFuture again = home.sampler.draw(home.view(), hours(2), 10, which);
    CHECK(again.waiting_s == future.waiting_s);
    CHECK(again.arrivals.size() == future.arrivals.size());
  }
  // One of each eighth of the past.
  std::sort(whole.begin(), whole.end());
  std::sort(rest.begin(), rest.end());
  for (int i = 0; i < 8; ++i) {
    CHECK(whole[static_cast<std::size_t>(i)] > 400 * i);
    CHECK(whole[static_cast<std::size_t>(i)] <= 400 * (i + 1));
    CHECK(rest[static_cast<std::size_t>(i)] > 200 * i - 1);
    CHECK(rest[static_cast<std::size_t>(i)] <= 200 * (i + 1));
  }
}

TEST_CASE("jobs of about the same size say more than others do") {
  Home home;
  for (int i = 0; i < 40; ++i) home.ran(i % 2 == 0 ? 1 : 8, seconds(i % 2 == 0 ? 10 : 5000));
  home.waiting = {home.job(1), home.job(8), home.job(32)};
  const RolloutFuture future = home.sampler.draw(home.view(), hours(0), 0, {});
  CHECK(future.waiting_s[0] == 10);
  CHECK(future.waiting_s[1] == 5000);
  CHECK((future.waiting_s[2] == 10 || future.waiting_s[2] == 5000));
  CHECK(future.arrivals.empty());
}

}  // namespace
}  // namespace starling
