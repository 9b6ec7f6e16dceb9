// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/bound/dual_bound.h"

namespace starling {
namespace {

constexpr double kTurnS = 300;  // of a division without news

/// Jobs that come and go, divided anew whenever that changes.
class FluidRun {
 public:
  explicit FluidRun(const BoundProblem& problem) : problem_(problem) {
    now_s_ = first_s_ = problem.jobs.front().submit_s;
    for (std::size_t t = 0; t < problem.gpus.size(); ++t)
      weight_ += problem.gpus[t] * problem.cost[t];
  }

  PricePath run() {
    while (next_ < problem_.jobs.size() || !here_.empty()) {
      while (next_ < problem_.jobs.size() && problem_.jobs[next_].submit_s <= now_s_ + 1e-9) {
        here_.push_back({next_, problem_.jobs[next_].work_s, 0});
        ++next_;
      }
      divide();
      advance();
    }
    return std::move(path_);
  }

 private:
  struct Here {
    std::size_t job;
    double left_s, speed;
  };

  void divide() {
    RankProblem rank{{}, problem_.gpus, problem_.cost};
    for (const Here& here : here_) {
      RankJob job;
      for (const auto& sizes : problem_.jobs[here.job].sizes) job.sizes.emplace_back(sizes);
      job.left_s = here.left_s;
      job.least_gpu_s = problem_.jobs[here.job].least_gpu_s;
      rank.jobs.push_back(std::move(job));
    }
    const RankAnswer answer = divide_by_rank(rank);
    for (std::size_t i = 0; i < here_.size(); ++i)
      here_[i].speed = answer.grants[i] ? answer.grants[i]->speed : 0;
    prices_.clear();
    for (std::size_t t = 0; t < problem_.gpus.size(); ++t)
      prices_.push_back(answer.price[t] * problem_.cost[t] / weight_);
  }

  void advance() {
    double till = now_s_ + kTurnS;
    if (next_ < problem_.jobs.size()) till = std::min(till, problem_.jobs[next_].submit_s);
    if (here_.empty()) till = problem_.jobs[next_].submit_s;
    for (const Here& here : here_) {
      if (here.speed > 0) till = std::min(till, now_s_ + here.left_s / here.speed);
    }
    till = std::max(till, now_s_ + 1e-3);
    note(till);
    for (Here& here : here_) here.left_s -= here.speed * (till - now_s_);
    std::erase_if(here_, [](const Here& here) { return here.left_s <= 1e-6; });
    now_s_ = till;
  }

  /// The mean price of each step.
  void note(double till) {
    for (double at = now_s_; at < till - 1e-9;) {
      const auto step = static_cast<std::size_t>((at - first_s_) / PricePath::kStepS + 1e-9);
      const double edge =
          std::min(till, first_s_ + static_cast<double>(step + 1) * PricePath::kStepS);
      if (path_.price.size() <= step)
        path_.price.resize(step + 1, std::vector<double>(prices_.size(), 0.0));
      for (std::size_t t = 0; t < prices_.size(); ++t)
        path_.price[step][t] += prices_[t] * (edge - at) / PricePath::kStepS;
      at = std::max(edge, at + 1e-6);
    }
  }

  const BoundProblem& problem_;
  double now_s_ = 0, first_s_ = 0, weight_ = 0;
  std::size_t next_ = 0;
  std::vector<Here> here_;
  std::vector<double> prices_;
  PricePath path_;
};

}  // namespace

PricePath prices_by_rank(const BoundProblem& problem) {
  if (problem.jobs.empty()) return {};
  return FluidRun(problem).run();
}

}  // namespace starling
