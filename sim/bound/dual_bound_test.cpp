// SPDX-License-Identifier: Apache-2.0
#include "sim/bound/dual_bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

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

}  // namespace
}  // namespace starling
