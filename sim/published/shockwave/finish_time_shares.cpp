// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/finish_time_shares.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "policies/gavel/gavel_allocation.h"
#include "sim/published/shockwave/analytic_centre.h"

namespace starling {
namespace {

struct Wanting {
  double age_s, alone_s, left_s;  ///< since arrival; whole time on its own part; alone
  double gpus;
};

/// The shares with which no ratio is above `ratio`; nothing if one would be above 1.
std::optional<std::vector<double>> shares_for(const std::vector<Wanting>& jobs, double ratio) {
  std::vector<double> shares;
  for (const Wanting& job : jobs) {
    const double time = ratio * job.alone_s - job.age_s;
    const bool over = job.left_s <= 0;
    if (!over && (time <= 0 || job.left_s > time)) return std::nullopt;
    shares.push_back(over ? 0 : job.left_s / time);
  }
  return shares;
}

double used(const std::vector<Wanting>& jobs, const std::vector<double>& shares) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) sum += jobs[i].gpus * shares[i];
  return sum;
}

std::vector<double> fairest(const std::vector<Wanting>& jobs, double gpus) {
  constexpr double kPrecision = 1 + 1e-15;
  const auto ratio = smallest_goal(0, 1, kPrecision, [&](double r) {
    const auto shares = shares_for(jobs, r);
    return shares && used(jobs, *shares) <= gpus;
  });
  STARLING_CHECK(ratio.has_value());  // everybody ends some time
  std::vector<double> shares = *shares_for(jobs, *ratio);
  // A job that needs all of its time has it; the others share what is left.
  constexpr double kAll = 1 - 1e-9;
  std::vector<BoundedShare> open;
  double room = gpus;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (shares[i] < kAll) open.push_back({shares[i], jobs[i].gpus});
    if (shares[i] >= kAll) room -= jobs[i].gpus;
  }
  const std::vector<double> centre = analytic_centre(open, room);
  auto next = centre.begin();
  for (double& share : shares) {
    if (share < kAll) share = *next++;
  }
  return shares;
}

}  // namespace

TimeShares FinishTimeShares::operator()(const RoundView& view) {
  std::vector<Wanting> jobs;
  for (const auto& [id, job] : view.jobs) {
    const double gang = job.spec->gpus;
    const double part = std::min(1.0, gpus_ / static_cast<double>(view.jobs.size()) / gang);
    const auto [at, fresh] = isolated_.try_emplace(id);
    Isolated& isolated = at->second;
    if (!fresh) isolated.done_s += (isolated.left - job.left()) / isolated.speed;
    isolated.left = job.left();
    isolated.speed = job.speed() * part;
    jobs.push_back({view.now_s - job.spec->arrival_s,
                    isolated.done_s + isolated.left / isolated.speed, job.left_s(), gang});
  }
  const std::vector<double> shares = fairest(jobs, gpus_);
  TimeShares out;
  auto share = shares.begin();
  for (const auto& [id, job] : view.jobs) out[id] = std::clamp(*share++, 0.0, 1.0);
  return out;
}

}  // namespace starling
