// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/share_search.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/check.h"
#include "policies/pollux/share_goals.h"
#include "policies/pollux/share_operators.h"

namespace starling {
namespace {

constexpr double kCross = 0.9;
// Children that were made in vain, because they are there already, for each that is wanted.
constexpr std::uint32_t kVain = 4;

/// Plans with what they are worth, no two alike.
class Population {
 public:
  Population(const SharingProblem& problem, const ShareSearchOptions& options, Rng& rng)
      : goals_(problem), operators_(problem, options), rng_(rng), size_(options.population) {}

  /// A plan that can be, unless it is there.
  void add(SharePlan plan) {
    operators_.repair(plan, rng_);
    if (!hashes_.insert(plan.hash()).second) return;
    goals.push_back(goals_.of(plan));
    plans.push_back(std::move(plan));
    ++evaluated;
  }
  /// As many children as there are to be plans, if so many different ones are found.
  void breed() {
    const std::size_t parents = plans.size();
    const std::size_t wanted = parents + size_;
    for (std::uint32_t tries = 0; plans.size() < wanted && tries < kVain * size_; tries += 2) {
      const std::size_t one = tournament(parents);
      const std::size_t other = tournament(parents);
      auto children = rng_.chance(kCross) ? ShareOperators::cross(plans[one], plans[other], rng_)
                                          : std::pair(plans[one], plans[other]);
      for (SharePlan* child : {&children.first, &children.second}) {
        operators_.mutate(*child, rng_);
        add(std::move(*child));
      }
    }
  }
  /// Index of the plan of the highest first goal.
  [[nodiscard]] std::size_t best() const {
    return static_cast<std::size_t>(std::ranges::max_element(goals) - goals.begin());
  }
  /// Keeps the best.
  void select() {
    const std::vector<ParetoPlace> all = pareto_places(goals);
    std::vector<SharePlan> kept;
    std::vector<TwoGoals> kept_goals;
    places.clear();
    hashes_.clear();
    for (const std::size_t i : pareto_best(all, size_)) {
      hashes_.insert(plans[i].hash());
      kept.push_back(std::move(plans[i]));
      kept_goals.push_back(goals[i]);
      places.push_back(all[i]);
    }
    plans = std::move(kept);
    goals = std::move(kept_goals);
  }

  std::vector<SharePlan> plans;
  std::vector<TwoGoals> goals;
  std::vector<ParetoPlace> places;
  std::uint64_t evaluated = 0;

 private:
  std::size_t tournament(std::size_t parents) {
    const auto a = static_cast<std::size_t>(rng_.below(static_cast<std::uint32_t>(parents)));
    const auto b = static_cast<std::size_t>(rng_.below(static_cast<std::uint32_t>(parents)));
    if (dominates(goals[a], goals[b])) return a;
    if (dominates(goals[b], goals[a])) return b;
    return places[a].crowding >= places[b].crowding ? a : b;
  }

  ShareGoals goals_;
  ShareOperators operators_;
  Rng& rng_;
  std::uint32_t size_;
  std::set<std::uint64_t> hashes_;
};

}  // namespace

std::uint32_t SharingProblem::gpus() const noexcept {
  return std::accumulate(node_gpus.begin(), node_gpus.end(), 0U);
}

ShareSearchAnswer search_shares(const SharingProblem& problem, const std::vector<SharePlan>& warm,
                                const ShareSearchOptions& options, Rng& rng) {
  ShareSearchAnswer answer;
  if (problem.jobs.empty()) return answer;
  STARLING_CHECK(problem.now.jobs() == problem.jobs.size() && options.population > 0);
  Population population(problem, options, rng);
  population.add(problem.now);
  for (const SharePlan& plan : warm) population.add(plan);
  population.select();
  double best_so_far = population.goals[population.best()][0];
  std::uint32_t in_vain = 0;
  for (std::uint32_t generation = 1; generation < options.generations; ++generation) {
    population.breed();
    population.select();
    const double now = population.goals[population.best()][0];
    in_vain = now > best_so_far ? 0 : in_vain + 1;
    best_so_far = now;
    if (in_vain == options.patience && options.patience > 0) break;
  }
  const std::size_t best = population.best();
  answer.best = population.plans[best];
  answer.fitness = population.goals[best][0];
  answer.evaluated = population.evaluated;
  for (std::size_t i = 0; i < population.plans.size(); ++i) {
    if (population.places[i].rank == 0) answer.front.push_back(std::move(population.plans[i]));
  }
  return answer;
}

}  // namespace starling
