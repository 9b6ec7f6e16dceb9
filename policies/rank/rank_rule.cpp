// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank_rule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

namespace starling {
namespace {

/// Corners are (gpus, speed); rising and concave.
void push_corner(std::vector<RankSize>& corners, std::size_t first, RankSize base, RankSize size) {
  const auto before = [&](std::size_t back) {
    const std::size_t count = corners.size() - first;
    return back < count ? corners[corners.size() - 1 - back] : base;
  };
  if (size.gpus <= base.gpus || size.speed <= before(0).speed) return;
  while (corners.size() > first) {
    const RankSize a = before(1), b = before(0);
    if ((b.speed - a.speed) * (size.gpus - a.gpus) > (size.speed - a.speed) * (b.gpus - a.gpus))
      break;
    corners.pop_back();
  }
  corners.push_back(size);
}

/// How often what is left is given again, as what those give back who take it.
constexpr int kPasses = 4;
/// A job changes to what is left only to be so much faster.
constexpr double kBetter = 0.001;

using Classes = std::map<std::int32_t, std::vector<std::size_t>, std::greater<>>;

/// By priority, the most urgent first.
Classes classes_of(const RankProblem& problem) {
  Classes classes;
  for (std::size_t i = 0; i < problem.jobs.size(); ++i)
    classes[problem.jobs[i].priority].push_back(i);
  return classes;
}

void rank_class(const RankProblem& problem, const std::vector<std::size_t>& jobs,
                std::vector<double>& rank) {
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(jobs.size());
  for (const std::size_t i : jobs)
    order.emplace_back(problem.jobs[i].left_s * problem.jobs[i].least_gpu_s, i);
  std::ranges::sort(order);
  const auto n = static_cast<double>(order.size());
  double shorter = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && order[k].first > order[k - 1].first) shorter = static_cast<double>(k);
    rank[order[k].second] = n - shorter + n * problem.jobs[order[k].second].aged;
  }
}

/// The division of one problem.
class RankDivision {
 public:
  explicit RankDivision(const RankProblem& problem)
      : problem_(problem),
        free_(problem.free),
        state_(problem.jobs.size()),
        last_(free_.size(), std::numeric_limits<double>::infinity()) {
    answer_.grants.resize(problem.jobs.size());
    answer_.more.resize(problem.jobs.size());
    answer_.rank = ranks_of(problem);
    answer_.held = problem.held;
    answer_.held.resize(free_.size(), false);
  }

  RankAnswer divide() {
    for (const auto& [priority, jobs] : classes_of(problem_)) {
      for (const std::size_t i : jobs) offer_first(i);
      give();
      for (int pass = 0; pass < kPasses && improve(jobs); ++pass) {
      }
    }
    for (std::size_t t = 0; t < free_.size(); ++t) {
      const bool all = free_[t] == 0 && last_[t] < std::numeric_limits<double>::infinity();
      answer_.price.push_back(all ? last_[t] : 0);
    }
    answer_.wanted.resize(free_.size());
    for (std::size_t i = 0; i < answer_.more.size(); ++i) {
      if (!answer_.more[i]) continue;
      RankAnswer::Wanted& most = answer_.wanted[answer_.more[i]->type];
      if (answer_.more[i]->value > most.value) {
        most = {answer_.more[i]->value, most.value, i};
      } else {
        most.next = std::max(most.next, answer_.more[i]->value);
      }
    }
    return std::move(answer_);
  }

 private:
  struct State {
    std::vector<std::uint32_t> first, last;  // corners by type
    RankSize has = {};
    std::optional<std::uint32_t> type;
    std::uint32_t offered = 0;  // steps in the heap
  };
  /// A step to corner `at` of a job's hull on a type.
  struct Step {
    double value;
    std::size_t job;
    std::uint32_t type, at;
    bool operator<(const Step& b) const {
      return value != b.value ? value < b.value : std::pair(job, type) > std::pair(b.job, b.type);
    }
  };

  void offer_first(std::size_t i) {
    const RankJob& job = problem_.jobs[i];
    State& state = state_[i];
    if (job.base.gpus > 0) {
      state.has = job.base, state.type = job.base_type;
      answer_.grants[i] = RankGrant{job.base_type, job.base.gpus, job.base.speed, 0};
    }
    for (std::uint32_t t = 0; t < job.sizes.size(); ++t) {
      const auto first = static_cast<std::uint32_t>(corners_.size());
      if (!state.type || *state.type == t) {
        for (const RankSize size : job.sizes[t]) push_corner(corners_, first, job.base, size);
      }
      state.first.push_back(first);
      state.last.push_back(static_cast<std::uint32_t>(corners_.size()));
      offer(i, t, first);
    }
  }

  void offer(std::size_t i, std::uint32_t type, std::uint32_t at) {
    State& state = state_[i];
    if (at >= state.last[type]) return;
    ++state.offered;
    const RankSize to = corners_[at];
    const double gain = (to.speed - state.has.speed) / (to.gpus - state.has.gpus);
    const double value =
        answer_.rank[i] * problem_.jobs[i].least_gpu_s * gain / problem_.cost[type];
    steps_.push({value, i, type, at});
  }

  void note_more(const Step& step, std::uint32_t gpus, double speed) {
    auto& more = answer_.more[step.job];
    if (!more) more = RankGrant{step.type, gpus, speed, step.value};
  }

  void take(const Step& step, RankSize to) {
    State& state = state_[step.job];
    free_[step.type] -= to.gpus - state.has.gpus;
    state.has = to;
    state.type = step.type;
    last_[step.type] = std::min(last_[step.type], step.value);
    answer_.grants[step.job] = RankGrant{step.type, to.gpus, to.speed, step.value};
    answer_.more[step.job].reset();
  }

  /// The fastest size that there is room for, if it is faster than what the job has.
  [[nodiscard]] std::optional<RankSize> fitting(const Step& step) const {
    const RankSize has = state_[step.job].has;
    std::optional<RankSize> best;
    for (const RankSize size : problem_.jobs[step.job].sizes[step.type]) {
      if (size.gpus <= has.gpus || size.gpus - has.gpus > free_[step.type]) continue;
      if (size.speed > (best ? best->speed : has.speed)) best = size;
    }
    return best;
  }

  void give() {
    while (!steps_.empty()) {
      const Step step = steps_.top();
      steps_.pop();
      State& state = state_[step.job];
      --state.offered;
      if (state.type && *state.type != step.type) continue;
      const RankJob& job = problem_.jobs[step.job];
      const RankSize to = corners_[step.at];
      if (answer_.held[step.type] && !job.stoppable) {
        note_more(step, to.gpus, to.speed);
        continue;
      }
      if (to.gpus - state.has.gpus <= free_[step.type]) {
        take(step, to);
        offer(step.job, step.type, step.at + 1);
        continue;
      }
      if (const auto less = fitting(step)) take(step, *less);
      note_more(step, to.gpus, to.speed);
      if (!state.type && state.offered == 0 && job.aged >= 1) hold(step.job);
    }
  }

  /// What a job could have of free GPUs if it gave its own back.
  [[nodiscard]] std::optional<RankGrant> better(std::size_t i) const {
    const RankJob& job = problem_.jobs[i];
    const State& state = state_[i];
    std::optional<RankGrant> best;
    double speed = state.has.speed * (1 + kBetter);
    for (std::uint32_t t = 0; t < job.sizes.size(); ++t) {
      if (free_[t] == 0 || (answer_.held[t] && !job.stoppable)) continue;
      const std::uint32_t own = state.type == t ? state.has.gpus : 0;
      if (job.base.gpus > 0 && job.base_type != t) continue;
      for (const RankSize size : job.sizes[t]) {
        if (size.gpus > free_[t] + own || size.gpus < job.base.gpus || size.speed <= speed)
          continue;
        speed = size.speed;
        best = RankGrant{t, size.gpus, size.speed, 0};
      }
    }
    return best;
  }

  /// What no job was given goes to those that it makes faster than what they have, which others may
  /// have then. True: something changed.
  bool improve(const std::vector<std::size_t>& jobs) {
    if (std::ranges::all_of(free_, [](std::uint32_t free) { return free == 0; })) return false;
    std::vector<std::size_t> order = jobs;
    std::ranges::stable_sort(order, std::greater{}, [this](std::size_t i) {
      return answer_.rank[i] * problem_.jobs[i].least_gpu_s;
    });
    bool changed = false;
    for (const std::size_t i : order) {
      auto to = better(i);
      if (!to) continue;
      State& state = state_[i];
      if (state.type) free_[*state.type] += state.has.gpus;
      free_[to->type] -= to->gpus;
      to->value = answer_.rank[i] * problem_.jobs[i].least_gpu_s * (to->speed - state.has.speed) /
                  to->gpus / problem_.cost[to->type];
      last_[to->type] = std::min(last_[to->type], to->value);
      state.has = {to->gpus, to->speed}, state.type = to->type;
      answer_.grants[i] = to;
      if (answer_.more[i] && answer_.more[i]->speed <= to->speed) answer_.more[i].reset();
      changed = true;
    }
    return changed;
  }

  /// On the type where most is free of those that could ever hold it.
  void hold(std::size_t i) {
    const RankJob& job = problem_.jobs[i];
    std::optional<std::uint32_t> best;
    for (std::uint32_t t = 0; t < job.sizes.size(); ++t) {
      if (!job.sizes[t].empty() && (!best || free_[t] > free_[*best])) best = t;
    }
    if (best) answer_.held[*best] = true;
  }

  const RankProblem& problem_;
  std::vector<std::uint32_t> free_;
  std::vector<RankSize> corners_;
  std::vector<State> state_;
  std::vector<double> last_;  // value of the GPU given last, by type
  std::priority_queue<Step> steps_;
  RankAnswer answer_;
};

}  // namespace

std::vector<double> ranks_of(const RankProblem& problem) {
  std::vector<double> rank(problem.jobs.size());
  for (const auto& [priority, jobs] : classes_of(problem)) rank_class(problem, jobs, rank);
  return rank;
}

std::vector<RankSize> hull_of(std::span<const RankSize> sizes, RankSize base) {
  std::vector<RankSize> corners;
  for (const RankSize size : sizes) push_corner(corners, 0, base, size);
  return corners;
}

double RankAnswer::worth_to_others(std::size_t job, std::uint32_t type) const {
  if (!grants[job] || grants[job]->type != type) return price[type];
  const Wanted& most = wanted[type];
  return std::min(price[type], most.value > 0 && most.job == job ? most.next : most.value);
}

RankAnswer divide_by_rank(const RankProblem& problem) { return RankDivision(problem).divide(); }

}  // namespace starling
