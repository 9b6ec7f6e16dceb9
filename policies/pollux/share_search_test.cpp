// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/share_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "policies/pollux/share_goals.h"
#include "policies/pollux/share_operators.h"

using namespace starling;

namespace {

/// Each GPU more brings less, and a second node costs a fifth.
double speedup(std::size_t job, std::uint32_t nodes, std::uint32_t replicas) {
  return std::pow(replicas, 0.5 + 0.1 * static_cast<double>(job % 5)) * (nodes > 1 ? 0.8 : 1.0);
}

SharingProblem problem_of(std::vector<std::uint32_t> node_gpus, std::vector<SharingJob> jobs) {
  SharingProblem problem;
  problem.node_gpus = std::move(node_gpus);
  problem.jobs = std::move(jobs);
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) problem.now.add({});
  problem.speedup = speedup;
  return problem;
}

SharingProblem random_problem(Rng& rng) {
  std::vector<std::uint32_t> nodes(1 + rng.below(8));
  for (std::uint32_t& node : nodes) node = rng.below(9);
  const bool has_means = rng.chance(0.5);
  std::vector<std::vector<std::uint32_t>> most_on_of;
  std::vector<SharingJob> jobs(1 + rng.below(12));
  for (SharingJob& job : jobs) {
    job.gpus_per_replica = 1 + rng.below(2);
    job.most = 1 + rng.below(10);
    job.least = rng.below(job.most + 1);
    job.restart_factor = rng.uniform();
    if (has_means) job.each = {rng.below(4), rng.below(4)};
    if (rng.chance(0.3)) {
      job.kind = most_on_of.size();
      auto& most_on = most_on_of.emplace_back();
      for (const std::uint32_t node : nodes)
        most_on.push_back(rng.below(node / job.gpus_per_replica + 1));
    }
  }
  SharingProblem problem = problem_of(std::move(nodes), std::move(jobs));
  problem.most_on_of = std::move(most_on_of);
  for (std::size_t node = 0; has_means && node < problem.node_gpus.size(); ++node)
    problem.node_means.push_back({rng.below(16), rng.below(16)});
  return problem;
}

SharePlan random_plan(const SharingProblem& problem, Rng& rng) {
  SharePlan plan;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    std::vector<NodeShare> row;
    for (std::uint32_t node = 0; node < problem.node_gpus.size(); ++node) {
      if (rng.chance(0.4)) row.push_back({node, 1 + rng.below(9)});
    }
    plan.add(row);
  }
  return plan;
}

void check_possible(const SharingProblem& problem, const ShareSearchOptions& options,
                    const SharePlan& plan) {
  REQUIRE(plan.jobs() == problem.jobs.size());
  std::vector<std::uint32_t> used(problem.node_gpus.size(), 0), spanning(used);
  std::vector<Demand> taken(used.size());
  for (std::size_t job = 0; job < plan.jobs(); ++job) {
    const auto row = plan.of(job);
    const SharingJob& one = problem.jobs[job];
    const std::uint32_t all = replicas_of(row);
    CHECK((all == 0 || (all >= one.least && all <= one.most)));
    CHECK(row.size() <= options.most_nodes);
    for (std::size_t i = 0; i < row.size(); ++i) {
      CHECK((row[i].replicas > 0 && row[i].replicas <= problem.most_on(job, row[i].node)));
      CHECK((i == 0 || row[i - 1].node < row[i].node));
      used[row[i].node] += row[i].replicas * one.gpus_per_replica;
      taken[row[i].node].cpus += row[i].replicas * one.gpus_per_replica * one.each.cpus;
      taken[row[i].node].memory += row[i].replicas * one.gpus_per_replica * one.each.memory;
      spanning[row[i].node] += row.size() > 1 ? 1 : 0;
    }
  }
  for (std::size_t node = 0; node < used.size(); ++node) {
    CHECK(used[node] <= problem.node_gpus[node]);
    if (!problem.node_means.empty()) {
      CHECK(taken[node].cpus <= problem.node_means[node].cpus);
      CHECK(taken[node].memory <= problem.node_means[node].memory);
    }
    if (options.avoid_interference) CHECK(spanning[node] <= 1);
  }
}

/// The highest fitness of any plan, by trying them all.
double best_of_all(const SharingProblem& problem, const ShareSearchOptions& options,
                   std::vector<std::vector<std::uint32_t>>& counts, std::size_t job,
                   std::uint32_t node) {
  if (job == problem.jobs.size()) {
    SharePlan plan;
    for (const auto& row : counts) {
      std::vector<NodeShare> shares;
      for (std::uint32_t n = 0; n < row.size(); ++n) {
        if (row[n] > 0) shares.push_back({n, row[n]});
      }
      plan.add(shares);
    }
    Rng rng(1);
    SharePlan repaired = plan;
    ShareOperators(problem, options).repair(repaired, rng);
    return repaired == plan ? ShareGoals(problem).of(plan)[0] : 0;
  }
  if (node == problem.node_gpus.size()) return best_of_all(problem, options, counts, job + 1, 0);
  double best = 0;
  for (std::uint32_t n = 0; n <= problem.most_on(job, node); ++n) {
    counts[job][node] = n;
    best = std::max(best, best_of_all(problem, options, counts, job, node + 1));
  }
  counts[job][node] = 0;
  return best;
}

}  // namespace

TEST_CASE("a repaired plan can be, and is not repaired again") {
  Rng rng(17);
  for (int round = 0; round < 400; ++round) {
    const SharingProblem problem = random_problem(rng);
    ShareSearchOptions options;
    options.most_nodes = 1 + rng.below(4);
    options.avoid_interference = rng.chance(0.5);
    ShareOperators operators(problem, options);
    SharePlan plan = random_plan(problem, rng);
    for (int i = 0; i < 5; ++i) {
      operators.repair(plan, rng);
      check_possible(problem, options, plan);
      const SharePlan once = plan;
      operators.repair(plan, rng);
      CHECK(plan == once);
      operators.mutate(plan, rng);
    }
  }
}

TEST_CASE("children have the first jobs of one parent and the others of the other") {
  Rng rng(5);
  SharePlan a, b;
  for (std::uint32_t job = 0; job < 6; ++job) {
    a.add(std::vector<NodeShare>{{0, job + 1}});
    b.add(std::vector<NodeShare>{{1, job + 1}, {2, 1}});
  }
  const auto [one, other] = ShareOperators::cross(a, b, rng);
  for (std::size_t job = 0; job < 6; ++job) {
    const bool swapped = one.of(job).front().node == 1;
    CHECK(std::ranges::equal(one.of(job), (swapped ? b : a).of(job)));
    CHECK(std::ranges::equal(other.of(job), (swapped ? a : b).of(job)));
    if (job > 0 && swapped) CHECK(one.of(job - 1).front().node == 1);
  }
}

TEST_CASE("the fitness is the harmonic mean, and a changed row counts less") {
  SharingProblem problem = problem_of({4, 4}, {{}, {}});
  problem.jobs[0].most = problem.jobs[1].most = 4;
  problem.jobs[1].restart_factor = 0.5;
  problem.speedup = [](std::size_t, std::uint32_t, std::uint32_t replicas) {
    return static_cast<double>(replicas);
  };
  const ShareSearchOptions options;
  SharePlan plan;
  plan.add(std::vector<NodeShare>{{0, 4}});
  plan.add(std::vector<NodeShare>{{1, 2}});
  // Speedups of 4 and 2 * 0.5, in quarters: 8 GPUs on 2 nodes.
  const double first = 1 / (4 * 0.25 + 1e-3);
  const double second = 1 / (2 * 0.25 * 0.5 + 1e-3);
  const TwoGoals goals = ShareGoals(problem).of(plan);
  CHECK(goals[0] == doctest::Approx(2 / (first + second)));
  CHECK(goals[1] == doctest::Approx(6.0 / 8));
  problem.now = plan;
  CHECK(ShareGoals(problem).of(plan)[0] == doctest::Approx(2 / (first + 1 / (2 * 0.25 + 1e-3))));
}

TEST_CASE("the search finds the best of all plans of small clusters") {
  ShareSearchOptions options;
  options.population = 40;
  options.generations = 40;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SharingProblem problem = problem_of({3, 2}, std::vector<SharingJob>(3));
    for (SharingJob& job : problem.jobs) job.most = 4;
    problem.jobs[2].least = seed % 2 == 0 ? 3 : 0;
    problem.jobs[2].restart_factor = 0.7;
    std::vector<std::vector<std::uint32_t>> counts(3, std::vector<std::uint32_t>(2, 0));
    const double best = best_of_all(problem, options, counts, 0, 0);
    Rng rng(seed);
    const ShareSearchAnswer found = search_shares(problem, {}, options, rng);
    CHECK(found.fitness == doctest::Approx(best));
    check_possible(problem, options, found.best);
  }
}

TEST_CASE("the search is no worse than what runs and what it begins with, and repeats itself") {
  Rng draw(23);
  for (int round = 0; round < 20; ++round) {
    const SharingProblem problem = random_problem(draw);
    ShareSearchOptions options;
    options.population = 10;
    options.generations = 5;
    SharePlan warm = random_plan(problem, draw);
    Rng repairing(1);
    ShareOperators(problem, options).repair(warm, repairing);
    Rng one(9), other(9);
    const ShareSearchAnswer found = search_shares(problem, {warm}, options, one);
    CHECK(found.fitness >= ShareGoals(problem).of(warm)[0]);
    CHECK(found.best == search_shares(problem, {warm}, options, other).best);
    check_possible(problem, options, found.best);
  }
}
