// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/time_shares.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "policies/gavel/gavel_allocation.h"
#include "sim/published/shockwave/interior_point.h"

namespace starling {
namespace {

/// A variable for each job's share, the first at `first`; no share below 0 or above 1, and no more
/// GPUs than there are.
class SharesProgram {
 public:
  SharesProgram(const RoundView& view, std::uint32_t gpus, std::uint32_t first)
      : view_(view), first_(first) {
    program.cost.resize(first + view.jobs.size());
    for (std::uint32_t i = 0; i < view.jobs.size(); ++i) program.rows.push_back({{{x(i), -1}}, 0});
    InequalityProgram::Row fits{{}, static_cast<double>(gpus)};
    std::uint32_t i = 0;
    for (const auto& [id, job] : view.jobs) fits.terms.emplace_back(x(i++), job.spec->gpus);
    program.rows.push_back(std::move(fits));
    for (i = 0; i < view.jobs.size(); ++i) program.rows.push_back({{{x(i), 1}}, 1});
  }
  [[nodiscard]] std::uint32_t x(std::uint32_t i) const { return first_ + i; }

  /// Jobs with equal `key`s get the mean of their shares: by symmetry these are equal, but for
  /// rounding, which would put them into an order of its own.
  template <class Key>
  [[nodiscard]] TimeShares solve(Key key) const {
    const auto solved = embedded_optimum(program);
    STARLING_CHECK(solved.ok());  // 0 of everything is feasible, or the caller has seen to it
    struct Alike {
      double sum = 0, jobs = 0;
    };
    std::map<decltype(key(view_.jobs.begin()->second)), Alike> alike;
    std::uint32_t i = 0;
    for (const auto& [id, job] : view_.jobs) {
      Alike& group = alike[key(job)];
      group.sum += std::clamp(solved.value()[x(i++)], 0.0, 1.0);
      group.jobs += 1;
    }
    TimeShares shares;
    for (const auto& [id, job] : view_.jobs) {
      const Alike& group = alike.at(key(job));
      shares[id] = group.sum / group.jobs;
    }
    return shares;
  }

  InequalityProgram program;

 private:
  const RoundView& view_;
  std::uint32_t first_;
};

/// What the search of the simulator, by halves from 100 s to 1e6 s until it knows the time to 5 %,
/// ends at.
double makespan_found(const RoundView& view, std::uint32_t gpus) {
  double longest = 0, sum = 0;
  for (const auto& [id, job] : view.jobs) {
    longest = std::max(longest, job.left_s());
    sum += std::max(job.left_s(), 0.0) * job.spec->gpus;
  }
  const double possible = std::max(longest, sum / gpus);
  const auto found = smallest_goal(100, 1e6, 1.05, [&](double t) { return t >= possible; });
  STARLING_CHECK(found.has_value());
  return *found;
}

}  // namespace

TimeShares even_shares(const RoundView& view, std::uint32_t gpus) {
  TimeShares shares;
  const double even =
      std::min(static_cast<double>(gpus) / static_cast<double>(view.jobs.size()), 1.0);
  for (const auto& [id, job] : view.jobs) shares[id] = even;
  return shares;
}

TimeShares max_min_shares(const RoundView& view, std::uint32_t gpus) {
  SharesProgram shares(view, gpus, 1);  // before them the negative of the least
  shares.program.cost[0] = 1;
  std::uint32_t i = 0;
  for (const auto& [id, job] : view.jobs) {
    shares.program.rows.push_back(
        {{{0, -1}, {shares.x(i++), -static_cast<double>(job.spec->gpus)}}, 0});
  }
  return shares.solve([](const RoundJob& job) { return job.spec->gpus; });
}

TimeShares most_steps_shares(const RoundView& view, std::uint32_t gpus) {
  SharesProgram shares(view, gpus, 0);
  std::uint32_t i = 0;
  for (const auto& [id, job] : view.jobs) shares.program.cost[shares.x(i++)] = -job.speed();
  return shares.solve([](const RoundJob& job) { return std::tuple(job.spec->gpus, job.speed()); });
}

TimeShares least_makespan_shares(const RoundView& view, std::uint32_t gpus) {
  const double makespan = makespan_found(view, gpus);
  SharesProgram shares(view, gpus, 0);
  std::uint32_t i = 0;
  for (const auto& [id, job] : view.jobs) {
    shares.program.rows.push_back({{{shares.x(i++), -job.speed()}}, -job.left() / makespan});
  }
  return shares.solve(
      [](const RoundJob& job) { return std::tuple(job.spec->gpus, job.speed(), job.left()); });
}

}  // namespace starling
