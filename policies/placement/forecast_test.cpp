// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/forecast.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "policies/placement/remaining_times.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "topology/occupancy.h"

namespace starling {
namespace {

const Placement kFirst{GpuId{0}}, kSecond{GpuId{1}};

Instant at(double s) { return Instant(from_seconds(s)); }

struct Past {
  Forecast forecast{true};
  std::uint64_t order = 0;
  double now = 0;

  Residents::Move came(std::uint64_t group, double submitted) {
    Residents::Move move;
    move.order = ++order;
    move.recurring_group = group;
    move.submitted = move.since = at(submitted);
    forecast.follow({&move, 1}, at(now));
    return move;
  }
  void left(Residents::Move move, double work_s, bool worked = true) {
    move.ended = true;
    move.worked = worked;
    move.work_s = work_s;
    forecast.follow({&move, 1}, at(now));
  }
  void ran(std::uint64_t group, double submitted, double work_s) {
    left(came(group, submitted), work_s);
  }
};

TEST_CASE("of a job of a new group the median of all is expected, once enough are known") {
  Past past;
  CHECK(past.forecast.left(7, at(0), 0, at(0)) == Forecast::kUnknown_s);
  for (std::size_t i = 0; i < ServiceHistory::kEnough; ++i) past.ran(100 + i, 0, 60);
  CHECK(past.forecast.left(7, at(0), 0, at(0)) == doctest::Approx(60));
  CHECK(past.forecast.left(7, at(0), 500, at(0)) == 500);
  CHECK(past.forecast.left(7, at(0), 61, at(0)) == Forecast::kLeast_s);
}

TEST_CASE("a job is expected to take what its group took, those submitted with it above all") {
  Past past;
  for (int i = 0; i < 8; ++i) past.ran(1, 0, 36'000);
  for (int i = 0; i < 8; ++i) past.ran(2, 0, 60);
  CHECK(past.forecast.left(1, at(10), 0, at(10)) > 30'000);
  CHECK(past.forecast.left(2, at(10), 0, at(10)) < 70);
  CHECK(past.forecast.left(3, at(10), 0, at(10)) == Forecast::kUnknown_s);
  // A day later the same people submit something else.
  const double day = 86'400;
  for (int i = 0; i < 8; ++i) past.ran(1, day, 60);
  CHECK(past.forecast.left(1, at(day), 0, at(day)) < 150);
  CHECK(past.forecast.left(1, at(10), 0, at(day)) > 15'000);
  // What has run for longer than that is like those that took longer.
  CHECK(past.forecast.left(1, at(day), 100, at(day)) > 15'000);
}

TEST_CASE("without groups all jobs are expected to be alike") {
  Past past;
  past.forecast = Forecast(false);
  for (int i = 0; i < 40; ++i) past.ran(1, 0, 36'000);
  for (int i = 0; i < 41; ++i) past.ran(2, 0, 60);
  CHECK(past.forecast.left(1, at(10), 0, at(10)) == doctest::Approx(60));
}

TEST_CASE(
    "jobs of the group that still run count once they have run for longer than was expected") {
  Past past;
  past.ran(1, 0, 60);
  const double before = past.forecast.left(1, at(0), 0, at(0));
  const Residents::Move running = past.came(1, 0);
  CHECK(past.forecast.left(1, at(0), 0, at(20)) == before);
  CHECK(past.forecast.left(1, at(0), 0, at(36'000)) > 1'000);
  past.left(running, 0.1, false);  // it never started
  CHECK(past.forecast.left(1, at(0), 0, at(36'000)) == before);
}

TEST_CASE("a running job says nothing of itself") {
  Past past;
  past.ran(1, 0, 3'600);
  const Residents::Move running = past.came(1, 0);
  CHECK(past.forecast.left(1, at(0), 3'000, at(3'000), running.order) ==
        doctest::Approx(600).epsilon(0.2));
  CHECK(past.forecast.left(1, at(0), 3'000, at(3'000)) > 1'000);
}

TEST_CASE("what a job did before it lost its place is not its length") {
  Past past;
  for (int i = 0; i < 8; ++i) past.ran(1, 0, 36'000);
  std::vector<Residents::Move> lost;
  for (int i = 0; i < 8; ++i) lost.push_back(past.came(1, 0));
  for (const Residents::Move& move : lost) past.left(move, 60);
  CHECK(past.forecast.left(1, at(0), 0, at(60)) < 2'000);
  for (const Residents::Move& move : lost)
    past.forecast.follow({&move, 1}, at(60));  // they start again
  CHECK(past.forecast.left(1, at(0), 0, at(60)) > 30'000);
}

TEST_CASE("what a job may take is drawn from what is expected and how wrong that was") {
  Past past;
  CHECK_FALSE(past.forecast.draws());
  // Half of each user's jobs take 1.5 times what the other half takes.
  for (int i = 0; i < 40; ++i) past.ran(1, 0, i % 2 == 0 ? 1'000 : 1'500);
  for (int i = 0; i < 40; ++i) past.ran(2, 0, i % 2 == 0 ? 10 : 15);
  CHECK(past.forecast.draws());
  const auto draw = [&](std::uint64_t group, double attained, double u) {
    return past.forecast.draw(group, at(0), attained, at(0), u);
  };
  CHECK(draw(1, 0, 0.3) == doctest::Approx(1'000).epsilon(0.1));
  CHECK(draw(1, 0, 0.7) == doctest::Approx(1'500).epsilon(0.1));
  CHECK(draw(2, 0, 0.3) == doctest::Approx(10).epsilon(0.1));
  CHECK(draw(2, 0, 0.7) == doctest::Approx(15).epsilon(0.1));
  // Who has run for longer than half of them is one of the others.
  CHECK(draw(1, 1'200, 0.3) == doctest::Approx(300).epsilon(0.2));
  CHECK(draw(2, 12, 0.7) == doctest::Approx(3).epsilon(0.2));
  // Beyond all of them: as long again, more or less.
  CHECK(draw(2, 1e6, 0.5) == doctest::Approx(1e6 * std::log(2)));
}

TEST_CASE("how wrong it was is told by what was expected when a job started") {
  Past past;
  for (std::uint64_t i = 0; i < 100; ++i) past.ran(1'000 + i, 0, 60);
  // Sweeps of people who are new: ten that run for ten hours, side by side.
  for (std::uint64_t user = 1; user <= 20; ++user) {
    std::vector<Residents::Move> sweep;
    for (int i = 0; i < 10; ++i) sweep.push_back(past.came(user, past.now));
    past.now += 36'000;
    for (const Residents::Move& job : sweep) past.left(job, 36'000);
  }
  past.forecast.follow({}, at(past.now));
  std::vector<double> drawn;
  for (int i = 0; i < 10; ++i)
    drawn.push_back(past.forecast.draw(99, at(past.now), 0, at(past.now), i / 10.0));
  CHECK(drawn.front() > 0);
  CHECK(drawn.back() >= 20 * drawn.front());
}

TEST_CASE("of jobs of new groups it is drawn from how wrong that was of such") {
  Past past;
  for (std::uint64_t i = 0; i < 100; ++i) past.ran(1'000 + i, 0, i % 2 == 0 ? 60 : 6'000);
  for (int i = 0; i < 100; ++i) past.ran(1, 0, 600);
  std::vector<double> drawn;
  for (const double u : {0.2, 0.8}) drawn.push_back(past.forecast.draw(7, at(0), 0, at(0), u));
  CHECK(drawn[1] > 20 * drawn[0]);
  CHECK(past.forecast.draw(1, at(0), 0, at(0), 0.8) <
        3 * past.forecast.draw(1, at(0), 0, at(0), 0.2));
}

TEST_CASE("jobs of less than a second are forecast, too") {
  Past past;
  for (std::size_t i = 0; i < ServiceHistory::kEnough; ++i) past.ran(100 + i, 0, 0.5);
  (void)past.came(1, 0);
  const double left = past.forecast.left(1, at(0), 0.1, at(0));
  CHECK(left > 0);
  CHECK(left <= 1);
}

TEST_CASE("what is remembered is bounded") {
  Past past;
  for (std::uint64_t group = 1; group <= 3 * Forecast::kGroups; ++group)
    past.ran(group, 0, group == 1 || group == 3 * Forecast::kGroups ? 6'000 : 60);
  CHECK(past.forecast.groups() <= Forecast::kGroups);
  CHECK(past.forecast.left(3 * Forecast::kGroups, at(0), 0, at(0)) > 4'000);
  CHECK(past.forecast.left(1, at(0), 0, at(0)) == doctest::Approx(60));  // not heard of for longest
  for (int i = 0; i < 1'000; ++i) past.ran(1, 0, 600);
  for (std::size_t i = 0; i < Forecast::kKept; ++i) past.ran(1, 0, 6'000);
  CHECK(past.forecast.left(1, at(0), 0, at(0)) > 4'000);
}

/// One server of two GPUs, and jobs of two users, one after the other.
struct Lives {
  Topology topology = make();
  Occupancy gpus{topology, {0, 1}};
  std::vector<JobSpec> specs = make_specs();
  std::vector<JobView> waiting, running;

  static Topology make() { return generate_flat({.servers = 1, .gpus_per_server = 2}).value(); }
  struct Even final : SpeedModel {
    [[nodiscard]] Speed speed(const JobProfile&, const Placement&,
                              const Neighbours&) const override {
      return {1, 0};
    }
  };
  Even speed;
  static std::vector<JobSpec> make_specs() {
    std::vector<JobSpec> all(100);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].id = JobId{1, i + 1};
      all[i].user = i % 2 == 0 ? "slow" : "quick";
    }
    return all;
  }
  [[nodiscard]] JobView job(std::size_t i, double submitted) const {
    JobView view;
    view.spec = &specs[i];
    view.order = i + 1;
    view.submitted = at(submitted);
    return view;
  }
  std::vector<Decision> decide(Policy& policy, double now) const {
    const View view{topology, gpus, waiting, running, {}, speed, at(now), AgentId{0}};
    Rng rng(1);
    return policy.decide(view, {}, rng);
  }
};

TEST_CASE("the job whose group took least is asked about first, if that is wanted") {
  for (const std::string rule : {"lif:order=forecast", "smart-greedy:order=forecast", "lif"}) {
    CAPTURE(rule);
    const auto policy = make_policy_registry().make(rule);
    REQUIRE(policy.ok());
    Lives lives;
    // On one GPU the slow one's job, for an hour, on the other the quick one's, a minute each.
    double now = 0;
    lives.gpus.take(kFirst);
    lives.running = {lives.job(0, 0)};
    lives.running[0].placement = kFirst;
    (void)lives.decide(*policy.value(), now);
    for (std::size_t i = 1; i < 20; i += 2, now += 60) {
      lives.gpus.take(kSecond);
      lives.running.push_back(lives.job(i, now));
      lives.running.back().placement = kSecond;
      (void)lives.decide(*policy.value(), now);
      lives.gpus.give_back(kSecond);
      lives.running.pop_back();
      (void)lives.decide(*policy.value(), now + 60);
    }
    lives.waiting = {lives.job(30, now), lives.job(31, now)};
    const auto decisions = lives.decide(*policy.value(), now + 3'600);
    REQUIRE(decisions.size() == 1);
    const JobId first = std::get<Start>(decisions[0]).job;
    CHECK(first == lives.specs[rule == "lif" ? 30 : 31].id);
  }
}

TEST_CASE("estimates count before forecasts") {
  RemainingTimes remaining(true);
  JobSpec spec;
  spec.duration = std::chrono::seconds(100);
  JobView job;
  job.spec = &spec;
  CHECK(remaining.left(job, at(0)) == 100);
  job.served = std::chrono::seconds(40);
  CHECK(remaining.left(job, at(0)) == 60);
  job.served = std::chrono::seconds(200);
  CHECK(remaining.left(job, at(0)) == doctest::Approx(10));
}

}  // namespace
}  // namespace starling
