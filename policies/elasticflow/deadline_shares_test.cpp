// SPDX-License-Identifier: Apache-2.0
#include "policies/elasticflow/deadline_shares.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace starling {
namespace {

/// Speed n^exponent on n GPUs: 1, 2, 4, ... up to `most`.
std::vector<PlannedSize> powers_of_two(double most, double exponent) {
  std::vector<PlannedSize> sizes;
  for (double n = 1; n <= most; n *= 2) sizes.push_back({n, std::pow(n, exponent)});
  return sizes;
}

DeadlineJob due(double left, double due_s, double most = 8, double exponent = 1) {
  DeadlineJob job;
  job.sizes = powers_of_two(most, exponent);
  job.left = left;
  job.due_s = due_s;
  job.asks = 0;
  return job;
}

TEST_CASE(
    "the least share is the fewest GPUs that end in time, also where fewer are free at first") {
  const auto sizes = powers_of_two(8, 1);
  GpuCalendar calendar(8);
  CHECK(calendar.least_share({sizes, 100, 100})->level == 0);
  CHECK(calendar.least_share({sizes, 100, 99})->level == 1);
  CHECK(!calendar.least_share({sizes, 801, 100}));
  // 7 are taken for 50 s: one GPU till then, and as many as it takes after that.
  GpuPlan taken;
  taken.spans = {{0, 50, 7}};
  calendar.take(taken);
  CHECK(calendar.free_now() == 1);
  const auto plan = calendar.least_share({sizes, 150, 100});
  REQUIRE(plan.has_value());
  CHECK(plan->level == 1);  // 50 s on one, 50 s on two
  CHECK(plan->first == 0U);
  CHECK(plan->end_s == doctest::Approx(100));
  CHECK(plan->gpu_s == doctest::Approx(150));
  CHECK(plan->spans.size() == 2);
  calendar.give_back(taken);
  CHECK(calendar.free_now() == 8);
}

TEST_CASE("the least share is that of a search second by second") {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    const double gpus = 1 + rng.below(12);
    GpuCalendar calendar(gpus);
    std::vector<double> free(60, gpus);  // by second
    for (int n = 0; n < 4; ++n) {
      const auto from = rng.below(40);
      const auto to = from + 1 + rng.below(19);
      double room = gpus;
      for (std::size_t s = from; s < to; ++s) room = std::min(room, free[s]);
      const double taken = rng.below(static_cast<std::uint32_t>(room) + 1);
      for (std::size_t s = from; s < to; ++s) free[s] -= taken;
      GpuPlan plan;
      plan.spans = {{static_cast<double>(from), static_cast<double>(to), taken}};
      calendar.take(plan);
    }
    const auto sizes = powers_of_two(8, 0.7);
    const double work = 1 + rng.below(120), due_s = 1 + rng.below(59);
    std::optional<std::size_t> level;
    for (std::size_t l = 0; l < sizes.size() && !level; ++l) {
      double left = work;
      for (std::size_t s = 0; s < static_cast<std::size_t>(due_s); ++s) {
        for (std::size_t size = l + 1; size > 0; --size) {
          if (sizes[size - 1].gpus > free[s]) continue;
          left -= sizes[size - 1].speed;
          break;
        }
      }
      if (left <= 1e-9) level = l;
    }
    const auto plan = calendar.least_share({sizes, work, due_s});
    REQUIRE(plan.has_value() == level.has_value());
    if (plan) CHECK(plan->level == *level);
  }
}

TEST_CASE("a job that asks is admitted only if no deadline is missed for it") {
  // The second would take what the first, due later, needs.
  std::vector<DeadlineJob> jobs = {due(400, 100), due(500, 110)};
  jobs[0].asks = 1;
  jobs[1].admitted = true;
  auto given = divide_by_deadlines(jobs, 8, 25, Unpromised::by_deadline);
  CHECK(given[1].admitted);
  CHECK(!given[0].admitted);
  jobs[0].left = 300;
  given = divide_by_deadlines(jobs, 8, 25, Unpromised::by_deadline);
  CHECK(given[0].admitted);
  CHECK(given[0].least == 2U);  // 4 GPUs for 75 s
  // Together they want more than there is: who asked first is in.
  jobs = {due(600, 100), due(600, 100)};
  jobs[0].asks = 2;
  jobs[1].asks = 1;
  given = divide_by_deadlines(jobs, 8, 25, Unpromised::by_deadline);
  CHECK(!given[0].admitted);
  CHECK(given[1].admitted);
}

TEST_CASE("what deadlines leave goes where a further GPU costs least, to others too") {
  // One that scales well and one that hardly does, each due in a long time.
  std::vector<DeadlineJob> jobs = {due(1000, 1e4, 8, 0.2), due(1000, 1e4, 8, 0.95)};
  auto given = divide_by_deadlines(jobs, 8, 60, Unpromised::by_deadline);
  CHECK(given[0].least == 0U);
  CHECK(given[1].least == 0U);
  CHECK(given[0].size == 2U);  // what is left beside 4, which do not make 8
  CHECK(given[1].size == 2U);
  // Without a deadline it starts on what is left, and grows.
  jobs = {due(700, 101, 8, 1), due(1000, std::numeric_limits<double>::infinity(), 8, 0.9)};
  jobs[1].asks.reset();
  given = divide_by_deadlines(jobs, 16, 60, Unpromised::by_deadline);
  CHECK(given[0].admitted);
  CHECK(given[0].size == 3U);
  CHECK(given[1].size == 3U);
  given = divide_by_deadlines(jobs, 8, 60, Unpromised::by_deadline);
  CHECK(given[0].size == 3U);
  CHECK(!given[1].size.has_value());
}

TEST_CASE("what those with a promise leave goes by deadline, or to the jobs that need the least") {
  // None can be in time; the second needs less.
  std::vector<DeadlineJob> jobs = {due(500, 1, 1), due(300, 2, 1)};
  const auto starts = [&](double gpus, Unpromised others) {
    std::vector<std::size_t> all;
    const auto given = divide_by_deadlines(jobs, gpus, 60, others);
    for (std::size_t i = 0; i < given.size(); ++i) {
      CHECK(!given[i].admitted);
      if (given[i].size) all.push_back(i);
    }
    return all;
  };
  using Jobs = std::vector<std::size_t>;
  CHECK(starts(1, Unpromised::by_deadline) == Jobs{0});
  CHECK(starts(1, Unpromised::least_left) == Jobs{1});
  CHECK(starts(2, Unpromised::least_left) == Jobs{0, 1});
  // GPU time counts: 200 s on two GPUs are more than 300 s on one.
  jobs[0] = due(200, 1, 1);
  jobs[0].sizes = {{2, 1}};
  CHECK(starts(2, Unpromised::by_deadline) == Jobs{0});
  CHECK(starts(2, Unpromised::least_left) == Jobs{1});
  // A more urgent one goes first, however long it takes.
  jobs.insert(jobs.begin(), due(900, 4, 1));
  jobs.front().priority = 1;
  CHECK(starts(1, Unpromised::least_left) == Jobs{0});
}

TEST_CASE("a job that is admitted is done in time, slot after slot, whichever jobs come") {
  std::size_t admitted = 0, declined = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    constexpr double kSlot = 10, kGpus = 16;
    std::vector<DeadlineJob> jobs;
    double now = 0;
    for (int slot = 0; slot < 200; ++slot, now += kSlot) {
      if (slot < 100 && rng.chance(0.5)) {
        const double work = 20 + rng.below(600);
        jobs.push_back(due(work, work / (1 + rng.below(4)) + 40, 8, 0.6 + rng.uniform() * 0.4));
      }
      std::ranges::stable_sort(jobs, {}, &DeadlineJob::due_s);
      const auto others = seed % 2 == 0 ? Unpromised::by_deadline : Unpromised::least_left;
      const auto given = divide_by_deadlines(jobs, kGpus, kSlot, others);
      double taken = 0;
      std::vector<DeadlineJob> next;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        DeadlineJob job = jobs[i];
        CHECK((!job.admitted || given[i].admitted));
        if (job.asks) ++(given[i].admitted ? admitted : declined);
        job.admitted = given[i].admitted;
        if (given[i].least) job.promised_gpus = job.sizes[*given[i].least].gpus;
        job.asks.reset();
        if (given[i].size) {
          const auto [gpus, speed] = job.sizes[*given[i].size];
          taken += gpus;
          if (job.admitted && job.left <= speed * kSlot)
            CHECK(job.left / speed <= job.due_s + 1e-6);
          job.left -= speed * kSlot;
        }
        job.due_s -= kSlot;
        if (job.left > 1e-9) next.push_back(std::move(job));
      }
      CHECK(taken <= kGpus + 1e-6);
      jobs = std::move(next);
    }
  }
  CHECK(admitted > 1000);
  CHECK(declined > 100);
}

}  // namespace
}  // namespace starling
