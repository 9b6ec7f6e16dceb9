// SPDX-License-Identifier: Apache-2.0
#include "sim/bound/dual_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace starling {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Multipliers of a job's work that are tried: from what it costs at its fastest upwards.
constexpr std::size_t kMultipliers = 22;
constexpr double kMultiplierStep = 1.35;
/// Steps in which the ends of a job are looked at: parts of its shortest time, seconds.
constexpr double kEndParts = 24, kLeastEndStepS = 5;

double fastest(const BoundJob& job) {
  double most = 0;
  for (const auto& sizes : job.sizes) {
    for (const RankSize size : sizes) most = std::max(most, size.speed);
  }
  return most;
}

/// What the job costs at least, its GPUs paid for.
class OwnCost {
 public:
  OwnCost(const BoundJob& job, const PricePath& path, double scale, double first_s)
      : job_(job),
        path_(path),
        scale_(scale),
        first_s_(first_s),
        shortest_s_(job.work_s / fastest(job)) {
    for (const auto& sizes : job.sizes) hulls_.push_back(hull_of(sizes));
    const double base = 1 / fastest(job);
    for (std::size_t i = 0; i < kMultipliers; ++i)
      multiplier_[i] = base * std::pow(kMultiplierStep, static_cast<double>(i));
  }

  [[nodiscard]] double least() {
    double best = kInfinite, at = job_.submit_s;
    auto step = static_cast<std::size_t>((job_.submit_s - first_s_) / PricePath::kStepS);
    while (at - job_.submit_s < best) {
      const double edge = first_s_ + static_cast<double>(step + 1) * PricePath::kStepS;
      if (edge <= at + 1e-9) {
        ++step;
        continue;
      }
      const double till =
          at + std::min(edge - at, std::max(kLeastEndStepS, shortest_s_ / kEndParts));
      pay(step, till - at);
      if (till - job_.submit_s >= shortest_s_)
        best = std::min(best, std::max(at - job_.submit_s, shortest_s_) + work_cost());
      at = till;
    }
    return best;
  }

 private:
  void pay(std::size_t step, double time_s) {
    for (std::size_t i = 0; i < kMultipliers; ++i) {
      double surplus = 0;
      for (std::size_t t = 0; t < hulls_.size(); ++t) {
        const double price = step < path_.price.size() ? scale_ * path_.price[step][t] : 0;
        for (const RankSize corner : hulls_[t])
          surplus = std::max(surplus, multiplier_[i] * corner.speed - price * corner.gpus);
      }
      surplus_[i] += surplus * time_s;
    }
  }
  [[nodiscard]] double work_cost() const {
    double cost = 0;
    for (std::size_t i = 0; i < kMultipliers; ++i)
      cost = std::max(cost, multiplier_[i] * job_.work_s - surplus_[i]);
    return cost;
  }

  const BoundJob& job_;
  const PricePath& path_;
  double scale_, first_s_, shortest_s_;
  std::vector<std::vector<RankSize>> hulls_;
  std::array<double, kMultipliers> multiplier_{}, surplus_{};
};

double all_jobs(const BoundProblem& problem) {
  return static_cast<double>(problem.jobs.size() + problem.others);
}

}  // namespace

double bound_at(const BoundProblem& problem, const PricePath& path, double scale) {
  if (problem.jobs.empty()) return 0;
  double paid = 0, sum = 0;
  for (const auto& prices : path.price) {
    for (std::size_t t = 0; t < prices.size(); ++t)
      paid += scale * prices[t] * problem.gpus[t] * PricePath::kStepS;
  }
  const double first_s = problem.jobs.front().submit_s;
  for (const BoundJob& job : problem.jobs) sum += OwnCost(job, path, scale, first_s).least();
  return (sum - paid) / all_jobs(problem);
}

double dual_bound(const BoundProblem& problem) {
  if (problem.jobs.empty()) return 0;
  double best = 0;
  for (const BoundJob& job : problem.jobs) best += job.work_s / fastest(job);
  best /= all_jobs(problem);
  const PricePath path = prices_by_rank(problem);
  constexpr double kSmallest = 0.1, kFactor = 1.25;
  constexpr int kScales = 14;
  double scale = kSmallest, found = 0;
  for (int i = 0; i < kScales; ++i, scale *= kFactor) {
    const double bound = bound_at(problem, path, scale);
    if (bound < found) break;  // it is concave in the scale
    found = bound;
  }
  return std::max(best, found);
}

}  // namespace starling
