// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/gavel_sharing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace starling {
namespace {

// Kinds of one to four GPUs with random speeds on three types; pairs that do 1.05 to 1.6 times what
// one job alone does, where they may share at all.
GavelProblem random_problem(Rng& rng) {
  GavelProblem problem;
  problem.gpus = {4 + rng.below(8), 4 + rng.below(8), 4 + rng.below(8)};
  const std::size_t kinds = 2 + rng.below(4);
  std::vector<GavelProblem::Row> models;
  for (std::size_t k = 0; k < kinds; ++k) {
    GavelProblem::Row row;
    row.kind = k;
    row.gpus = 1U << rng.below(3);
    for (int t = 0; t < 3; ++t) row.speed.push_back(0.1 + 0.9 * rng.uniform());
    models.push_back(row);
  }
  const std::uint32_t jobs = 1 + rng.below(40);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    GavelProblem::Row row = models[rng.below(static_cast<std::uint32_t>(kinds))];
    row.job = JobId{1, i + 1};
    row.left = 1000 * (0.1 + rng.uniform());
    problem.rows.push_back(row);
  }
  for (std::size_t a = 0; a < kinds; ++a) {
    for (std::size_t b = a; b < kinds; ++b) {
      if (models[a].gpus != models[b].gpus) continue;
      GavelProblem::Pair pair{a, b, {}, {}};
      for (std::size_t t = 0; t < 3; ++t) {
        const double both = rng.chance(0.2) ? 0 : 1.05 + 0.55 * rng.uniform();
        pair.first_speed.push_back(models[a].speed[t] * both / 2);
        pair.second_speed.push_back(models[b].speed[t] * both / 2);
      }
      problem.pairs.push_back(pair);
    }
  }
  return problem;
}

std::vector<double> speeds(const GavelProblem& problem, const GavelShares& shares) {
  std::vector<double> out(problem.rows.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::inner_product(shares.alone[i].begin(), shares.alone[i].end(),
                                problem.rows[i].speed.begin(), 0.0);
  }
  for (const auto& [rows, times] : shares.together) {
    const auto [i, j] = rows;
    const std::size_t a = problem.rows[i].kind;
    const std::size_t b = problem.rows[j].kind;
    const auto pair = std::find_if(problem.pairs.begin(), problem.pairs.end(), [&](const auto& p) {
      return p.first == std::min(a, b) && p.second == std::max(a, b);
    });
    REQUIRE(pair != problem.pairs.end());
    for (std::size_t t = 0; t < times.size(); ++t) {
      out[i] += times[t] * (a <= b ? pair->first_speed : pair->second_speed)[t];
      out[j] += times[t] * (a <= b ? pair->second_speed : pair->first_speed)[t];
    }
  }
  return out;
}

double fairness(const GavelProblem& problem, const std::vector<double>& speed) {
  const double all = std::accumulate(problem.gpus.begin(), problem.gpus.end(), 0.0);
  double least = 1e300;
  for (std::size_t i = 0; i < speed.size(); ++i) {
    const GavelProblem::Row& row = problem.rows[i];
    double even = 0;
    for (std::size_t t = 0; t < 3; ++t) even += row.speed[t] * problem.gpus[t] / all;
    least = std::min(least, speed[i] * row.gpus / even);
  }
  return least;
}

double throughput(const GavelProblem& problem, const std::vector<double>& speed) {
  double sum = 0;
  for (std::size_t i = 0; i < speed.size(); ++i) {
    const GavelProblem::Row& row = problem.rows[i];
    sum += speed[i] * row.gpus / *std::max_element(row.speed.begin(), row.speed.end());
  }
  return sum;
}

void check_fits(const GavelProblem& problem, const GavelShares& shares) {
  std::vector<double> used(3), of(problem.rows.size());
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      used[t] += shares.alone[i][t] * problem.rows[i].gpus;
      of[i] += shares.alone[i][t];
    }
    for (const auto& [rows, times] : shares.together) {
      CHECK(rows.first < rows.second);
      used[t] += times[t] * problem.rows[rows.first].gpus;
      of[rows.first] += times[t];
      of[rows.second] += times[t];
    }
    CHECK(used[t] <= problem.gpus[t] + 1e-6);
  }
  for (const double time : of) CHECK(time <= 1 + 1e-6);
}

TEST_CASE("with sharing no objective is worse, and the shares fit") {
  Rng rng(11);
  int better = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const GavelProblem problem = random_problem(rng);
    GavelProblem apart = problem;
    apart.pairs.clear();
    const auto solve = [&](const GavelProblem& p, GavelObjective objective) {
      const GavelShares shares = share_gpus(p, objective);
      check_fits(p, shares);
      return speeds(p, shares);
    };
    const double fair = fairness(problem, solve(problem, GavelObjective::max_min_fairness));
    const double fair_apart = fairness(problem, speeds(apart, {max_min_fairness(apart), {}}));
    CHECK(fair >= fair_apart * (1 - 1e-4));
    better += fair > fair_apart * 1.02 ? 1 : 0;
    const auto most = solve(problem, GavelObjective::throughput);
    const auto most_apart = speeds(apart, {max_throughput(apart), {}});
    CHECK(throughput(problem, most) >= throughput(problem, most_apart) * (1 - 1e-4));
    for (const GavelObjective objective :
         {GavelObjective::fifo, GavelObjective::finish_time_fairness, GavelObjective::makespan}) {
      (void)solve(problem, objective);
    }
  }
  CHECK(better > 10);
}

// One GPU, two jobs that disturb each other little: both always run, each at 0.8.
TEST_CASE("two jobs that go together run together") {
  GavelProblem problem;
  problem.gpus = {1};
  problem.rows = {{JobId{1, 1}, 1, {1}, 100, 0, 0, 0}, {JobId{1, 2}, 1, {1}, 100, 0, 0, 1}};
  problem.pairs = {{0, 1, {0.8}, {0.8}}};
  for (const GavelObjective objective :
       {GavelObjective::max_min_fairness, GavelObjective::finish_time_fairness,
        GavelObjective::makespan, GavelObjective::throughput, GavelObjective::fifo}) {
    const GavelShares shares = share_gpus(problem, objective);
    REQUIRE(shares.together.size() == 1);
    CHECK(std::abs(shares.together.begin()->second[0] - 1) < 1e-6);
    const auto speed = speeds(problem, shares);
    CHECK(std::abs(speed[0] - 0.8) < 1e-6);
    CHECK(std::abs(speed[1] - 0.8) < 1e-6);
  }
}

}  // namespace
}  // namespace starling
