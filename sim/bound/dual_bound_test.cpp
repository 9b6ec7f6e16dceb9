// SPDX-License-Identifier: Apache-2.0
#include "sim/bound/dual_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace starling {
namespace {

BoundJob bound_job(double submit, double work, std::vector<RankSize> sizes) {
  double frugal = 0;
  for (const RankSize size : sizes) frugal = std::max(frugal, size.speed / size.gpus);
  return {submit, work, 1 / frugal, {std::move(sizes)}};
}

/// Mean time until each is done where the shortest of those that are there has the only GPU.
double shortest_first(const BoundProblem& problem) {
  std::vector<double> left;
  for (const BoundJob& job : problem.jobs) left.push_back(job.work_s);
  double now = 0, sum = 0;
  for (std::size_t done = 0; done < left.size();) {
    std::size_t next = left.size();
    double coming = 1e18;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (problem.jobs[i].submit_s > now) coming = std::min(coming, problem.jobs[i].submit_s);
      if (left[i] <= 0 || problem.jobs[i].submit_s > now) continue;
      if (next == left.size() || left[i] < left[next]) next = i;
    }
    if (next == left.size()) {
      now = coming;
      continue;
    }
    const double step = std::min(left[next], coming - now);
    now += step;
    left[next] -= step;
    if (left[next] > 1e-9) continue;
    left[next] = 0;
    sum += now - problem.jobs[next].submit_s;
    ++done;
  }
  return sum / static_cast<double>(left.size());
}

TEST_CASE("a job that is alone takes what it takes at its fastest") {
  BoundProblem problem{{bound_job(50, 6000, {{1, 1.0}, {2, 1.5}, {4, 2.0}})}, {8}, {1}};
  CHECK(dual_bound(problem) == doctest::Approx(3000));
  problem.jobs.clear();
  CHECK(dual_bound(problem) == 0);
}

TEST_CASE("no schedule is below the bound, and the bound not below what each takes alone") {
  Rng rng(11);
  for (int i = 0; i < 20; ++i) {
    BoundProblem problem{{}, {1}, {1}};
    double at = 0;
    for (int j = 0; j < 40; ++j) {
      at += 1000 * rng.uniform();
      problem.jobs.push_back(bound_job(at, 300 + 3000 * std::pow(rng.uniform(), 3.0), {{1, 1.0}}));
    }
    const double best = shortest_first(problem), bound = dual_bound(problem);
    CHECK(bound <= best * (1 + 1e-9));
    double alone = 0;
    for (const BoundJob& job : problem.jobs) alone += job.work_s / 40;
    CHECK(bound >= alone * (1 - 1e-9));
  }
}

TEST_CASE("prices of any scale bound from below, also those that are far off") {
  BoundProblem problem{{}, {2}, {1}};
  for (int j = 0; j < 12; ++j)
    problem.jobs.push_back(bound_job(100.0 * j, 2000, {{1, 1.0}, {2, 2.0}}));
  // Linear speeds: both GPUs to the job with least to do is best, 1000 s for each in turn.
  double best = 0, now = 0;
  for (int j = 0; j < 12; ++j) {
    now = std::max(now, 100.0 * j) + 1000;
    best += (now - 100.0 * j) / 12;
  }
  const PricePath path = prices_by_rank(problem);
  for (const double scale : {0.0, 0.1, 0.5, 1.0, 2.0, 10.0})
    CHECK(bound_at(problem, path, scale) <= best);
  CHECK(dual_bound(problem) > 0.6 * best);  // three times what each would take alone
}

/// The least sum of JCTs of schedules that give GPUs out for whole slots. Works and speeds are such
/// that what is left after a slot is a multiple of a quarter of it.
class BestOfSlots {
 public:
  static constexpr double kSlotS = 120;
  static constexpr int kMostSlots = 18;
  explicit BestOfSlots(const BoundProblem& problem) : problem_(problem) {}
  double least() {
    std::vector<int> left;
    for (const BoundJob& job : problem_.jobs) left.push_back(quarters(job.work_s / kSlotS));
    return from(0, left);
  }

 private:
  static int quarters(double slots) { return static_cast<int>(std::lround(4 * slots)); }

  double from(int slot, const std::vector<int>& left) {
    if (std::ranges::all_of(left, [](int q) { return q == 0; })) return 0;
    if (slot == kMostSlots) return 1e18;
    const auto known = known_.find({slot, left});
    if (known != known_.end()) return known->second;
    std::vector<int> next = left;
    const double best = give(slot, 0, problem_.gpus, next, 0);
    return known_[{slot, left}] = best;
  }

  /// Over what jobs from `j` on may have of `free` in the slot.
  double give(int slot, std::size_t j, const std::vector<std::uint32_t>& free,
              std::vector<int>& left, double sum) {
    if (j == left.size()) return sum + from(slot + 1, left);
    double best = give(slot, j + 1, free, left, sum);
    const BoundJob& job = problem_.jobs[j];
    const double since = slot * kSlotS - job.submit_s;
    if (left[j] == 0 || since < 0) return best;
    for (std::size_t t = 0; t < job.sizes.size(); ++t) {
      for (const RankSize size : job.sizes[t]) {
        if (size.gpus > free[t]) continue;
        std::vector<std::uint32_t> rest = free;
        rest[t] -= size.gpus;
        const int before = left[j];
        left[j] = std::max(0, before - quarters(size.speed));
        const double done = left[j] == 0 ? since + before / 4.0 * kSlotS / size.speed : 0;
        best = std::min(best, give(slot, j + 1, rest, left, sum + done));
        left[j] = before;
      }
    }
    return best;
  }

  const BoundProblem& problem_;
  std::map<std::pair<int, std::vector<int>>, double> known_;
};

TEST_CASE("the best of all schedules of slots is not below the bound: sizes, types, arrivals") {
  Rng rng(23);
  double tightest = 0;
  for (int i = 0; i < 30; ++i) {
    BoundProblem problem{{}, {2, 1}, {1, 0.6}};
    int slot = 0;
    for (int j = 0; j < 3; ++j) {
      const double work = (1 + rng.below(8)) * BestOfSlots::kSlotS / 2;
      BoundJob job = bound_job(slot * BestOfSlots::kSlotS, work, {{1, 1.0}});
      if (rng.chance(0.6)) job.sizes[0].push_back({2, rng.chance(0.5) ? 1.25 : 1.75});
      job.sizes.push_back({});
      if (rng.chance(0.7)) job.sizes[1].push_back({1, 0.5});
      problem.jobs.push_back(job);
      slot += static_cast<int>(rng.below(3));
    }
    const double best = BestOfSlots(problem).least() / 3, bound = dual_bound(problem);
    CHECK(bound <= best * (1 + 1e-9));
    tightest = std::max(tightest, bound / best);
    const PricePath path = prices_by_rank(problem);
    for (const double scale : {0.3, 1.0, 3.0})
      CHECK(bound_at(problem, path, scale) <= best * (1 + 1e-9));
  }
  CHECK(tightest > 0.9);
}

TEST_CASE("jobs that are not priced count as if they took no time") {
  BoundProblem problem{{bound_job(50, 6000, {{1, 1.0}, {2, 2.0}})}, {8}, {1}};
  problem.others = 2;
  CHECK(dual_bound(problem) == doctest::Approx(1000));
  problem.jobs.clear();
  CHECK(dual_bound(problem) == 0);
}

}  // namespace
}  // namespace starling
