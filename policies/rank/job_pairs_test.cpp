// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/job_pairs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "base/rng.h"

namespace starling {
namespace {

/// Jobs of one GPU of one type, each of a kind of its own, that keep `part` of their speed in
/// pairs.
struct PairWorld {
  std::deque<std::vector<RankSize>> lists;
  std::deque<std::vector<std::span<const RankSize>>> sizes;
  std::vector<PairJob> jobs;
  std::vector<double> part;

  PairJob& add(double each, double keeps) {
    lists.push_back({{1, 1.0}});
    sizes.push_back({lists.back()});
    PairJob job;
    job.kind = static_cast<std::uint32_t>(jobs.size());
    job.each = each;
    job.sizes = sizes.back();
    jobs.push_back(job);
    part.push_back(keeps);
    return jobs.back();
  }
  PairJob& waits(double each, double keeps) { return add(each, keeps); }
  /// `worth`: of its GPU to others.
  PairJob& runs(double each, double keeps, double worth = 0) {
    PairJob& job = add(each, keeps);
    job.has = job.now = {0, 1, 1.0, 0};
    job.alone = std::max(each - worth, 0.0);
    return job;
  }
  [[nodiscard]] std::vector<JobPair> pairs() const {
    return choose_pairs(
        jobs, [this](std::uint32_t one, std::uint32_t other, std::uint32_t, std::uint32_t) {
          return PairRate{part[one], part[other]};
        });
  }
};

TEST_CASE(
    "a job that waits joins the one that it costs least, and none where it costs more than it "
    "brings") {
  PairWorld world;
  world.runs(10, 0.6).joins = false;
  world.runs(4, 0.6).joins = false;
  world.waits(8, 0.7);
  auto pairs = world.pairs();
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].host == 1);
  CHECK(pairs[0].guest == 2);
  CHECK(pairs[0].gain == doctest::Approx(8 * 0.7 - 4 * 0.4));
  world.jobs[2].each = 2;  // brings 1.4, and the host loses 1.6
  CHECK(world.pairs().empty());
}

TEST_CASE("two that run share where a GPU is worth more to others than what both lose") {
  for (const double worth : {0.5, 3.0}) {
    PairWorld world;
    world.runs(2, 0.7, worth);
    world.runs(2, 0.7, worth);
    CHECK(world.pairs().size() == (worth > 2 * 2 * 0.3 ? 1 : 0));
  }
}

TEST_CASE("jobs of different priority do not share, nor those that are not to") {
  PairWorld world;
  world.runs(1, 0.9);
  world.waits(8, 0.9).priority = 1;
  CHECK(world.pairs().empty());
  world.jobs[1].priority = 0;
  CHECK(world.pairs().size() == 1);
  world.part = {0, 0};
  CHECK(world.pairs().empty());
}

TEST_CASE("two that are on the same GPUs stay so for nothing, others pay the move") {
  PairWorld world;
  PairJob& host = world.runs(1, 0.8, 1);
  host.joins = false;
  PairJob& guest = world.runs(1, 0.8, 1);
  guest.has = {};
  guest.alone = 0;
  guest.moved = 0.2;  // brings 0.16, and the host loses 0.2
  CHECK(world.pairs().empty());
  world.jobs[1].beside = 0;
  REQUIRE(world.pairs().size() == 1);
  CHECK(world.pairs()[0].gain == doctest::Approx(0.8 - 0.2));
}

TEST_CASE("also beyond the kinds that are tried, each guest finds a host that is left") {
  PairWorld world;
  for (std::size_t i = 0; i < 4 * kMostKindsTried; ++i)
    world.runs(1 + 0.01 * static_cast<double>(i), 0.7).joins = false;
  for (std::size_t i = 0; i < 4 * kMostKindsTried; ++i) world.waits(8, 0.7);
  CHECK(world.pairs().size() == 4 * kMostKindsTried);
}

TEST_CASE("where a type is held no guest joins for good") {
  PairWorld world;
  world.runs(1, 0.9).joins = false;
  world.waits(8, 0.9).for_good = true;
  const auto rates = [](std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
    return PairRate{0.9, 0.9};
  };
  CHECK(choose_pairs(world.jobs, rates, {true}).empty());
  CHECK(choose_pairs(world.jobs, rates, {false}).size() == 1);
  world.jobs[1].for_good = false;
  CHECK(choose_pairs(world.jobs, rates, {true}).size() == 1);
}

/// The best sum of gains of pairs of which no two have a job in common.
double best_sum(const PairWorld& world, std::vector<bool>& taken, std::size_t guest) {
  if (guest == world.jobs.size()) return 0;
  double best = best_sum(world, taken, guest + 1);
  const PairJob& g = world.jobs[guest];
  if (taken[guest] || !g.joins) return best;
  for (std::size_t h = 0; h < world.jobs.size(); ++h) {
    const PairJob& host = world.jobs[h];
    if (h == guest || taken[h] || host.has.gpus == 0) continue;
    const double gain = g.each * world.part[guest] - host.each * (1 - world.part[h]) - g.alone;
    if (gain <= 0) continue;
    taken[h] = taken[guest] = true;
    best = std::max(best, gain + best_sum(world, taken, guest + 1));
    taken[h] = taken[guest] = false;
  }
  return best;
}

TEST_CASE("no job is in two pairs, and the gains come to half of the best at least") {
  Rng rng(5);
  double least = 1;
  for (int i = 0; i < 200; ++i) {
    PairWorld world;
    for (int j = 0; j < 8; ++j) {
      const double each = 1 + 9 * rng.uniform(), keeps = 0.55 + 0.4 * rng.uniform();
      if (rng.chance(0.5)) {
        world.runs(each, keeps, 4 * rng.uniform());
      } else {
        world.waits(each, keeps);
      }
    }
    const auto pairs = world.pairs();
    std::vector<std::size_t> who;
    double sum = 0;
    for (const JobPair& pair : pairs) {
      who.push_back(pair.host), who.push_back(pair.guest);
      sum += pair.gain;
    }
    std::ranges::sort(who);
    CHECK(std::ranges::adjacent_find(who) == who.end());
    std::vector<bool> taken(world.jobs.size(), false);
    const double best = best_sum(world, taken, 0);
    if (best > 0) least = std::min(least, sum / best);
  }
  CHECK(least >= 0.5);
}

}  // namespace
}  // namespace starling
