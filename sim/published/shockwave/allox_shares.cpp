// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/allox_shares.h"

#include <algorithm>

#include "sim/published/shockwave/assignment.h"

namespace starling {
namespace {

constexpr double kConsidered = 0.2;  // of the jobs

/// The one that runs first on each of `gpus`.
std::vector<std::size_t> first_on_each(const std::vector<std::size_t>& jobs, std::size_t gpus,
                                       const RoundView& view) {
  // Column p * gpus + g: on GPU g, with p jobs after it that wait for it.
  std::vector<std::vector<double>> cost;
  for (const std::size_t id : jobs) {
    const RoundJob& job = view.jobs.at(id);
    std::vector<double>& row = cost.emplace_back();
    for (std::size_t after = 0; after < jobs.size(); ++after) {
      const double adds = static_cast<double>(after + 1) * job.left_s();
      row.insert(row.end(), gpus, adds + (view.now_s - job.spec->arrival_s));
    }
  }
  std::vector<std::size_t> first(gpus, jobs.size()), most_after(gpus, 0);
  const auto columns = least_assignment(cost);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t gpu = columns[i] % gpus, after = columns[i] / gpus;
    if (first[gpu] != jobs.size() && after <= most_after[gpu]) continue;
    first[gpu] = i;
    most_after[gpu] = after;
  }
  std::erase(first, jobs.size());
  for (std::size_t& i : first) i = jobs[i];
  return first;
}

}  // namespace

TimeShares AlloxShares::operator()(const RoundView& view) {
  TimeShares shares;
  std::vector<std::size_t> waiting;
  for (const auto& [id, job] : view.jobs) {
    const auto had = before_.find(id);
    shares[id] = had == before_.end() ? 0 : had->second;
    if (shares[id] != 1) waiting.push_back(id);
  }
  const std::size_t free = gpus_ - (view.jobs.size() - waiting.size());
  const auto fifth = static_cast<std::size_t>(kConsidered * static_cast<double>(waiting.size()));
  waiting.resize(std::min(waiting.size(), std::max(fifth, free)));  // the oldest: jobs are in order
  if (free > 0) {
    for (const std::size_t job : first_on_each(waiting, free, view))
      shares[job] = 1.0 / view.jobs.at(job).spec->gpus;
  }
  before_ = shares;
  return shares;
}

}  // namespace starling
