// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "policies/placement/forecast.h"

namespace starling {
namespace {

constexpr double kLongest = 1e12;  // seconds
constexpr std::size_t kEndedWords = 3, kRunningWords = 5, kGroupWords = 4;

}  // namespace

void Forecast::save(MemoryWriter& out, Instant origin) const {
  all_.save(out);
  for (const ServiceHistory& misses : misses_) misses.save(out);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> newest;  // touched, group
  for (const auto& [id, group] : groups_) newest.emplace_back(group.touched, id);
  std::sort(newest.rbegin(), newest.rend());
  std::size_t jobs = 0, groups = 0;
  for (; groups < newest.size(); ++groups) {
    const RecurringGroup& group = groups_.at(newest[groups].second);
    jobs += group.ended.size() + group.running.size() + 1;
    if (jobs > kSaved) break;
  }
  out.word(groups);
  for (std::size_t i = 0; i < groups; ++i) {
    const RecurringGroup& group = groups_.at(newest[i].second);
    out.word(newest[i].second), out.word(group.touched);
    out.word(group.ended.size());
    for (const Ended& job : group.ended)
      out.word(job.order), out.instant(job.submitted, origin), out.number(job.work_s);
    out.word(group.running.size());
    for (const auto& [order, job] : group.running) {
      out.word(order), out.instant(job.submitted, origin), out.instant(job.since, origin);
      out.number(job.expected), out.word(job.had_history ? 1 : 0);
    }
  }
}

void Forecast::restore(MemoryReader& in, Instant origin) {
  all_.restore(in);
  for (ServiceHistory& misses : misses_) misses.restore(in);
  groups_.clear();
  ran_before_.clear();
  moves_ = 0;
  for (std::size_t left = in.count(kGroups, kGroupWords); left > 0 && in.ok(); --left) {
    const std::uint64_t id = in.word();
    RecurringGroup& group = groups_[id];
    group.touched = in.word();
    moves_ = std::max(moves_, group.touched);
    group.ended.resize(in.count(kKept, kEndedWords));
    for (Ended& job : group.ended) {
      job.order = in.word(), job.submitted = in.instant(origin);
      job.work_s = in.number(0, kLongest);
      job.log_work = std::log(std::max(1.0, job.work_s));
    }
    for (std::size_t runs = in.count(kKept, kRunningWords); runs > 0; --runs) {
      const std::uint64_t order = in.word();
      Running& job = group.running[order];
      job.submitted = in.instant(origin), job.since = in.instant(origin);
      job.expected = in.number(1e-9, kLongest);
      job.had_history = in.word() != 0;
      ran_before_[order] = id;
    }
  }
}

/// Those that ran when this was kept, and do not run here any more.
void Forecast::forget_gone() {
  for (const auto& [order, id] : ran_before_) {
    if (const auto group = groups_.find(id); group != groups_.end())
      group->second.running.erase(order);
  }
  ran_before_.clear();
}

}  // namespace starling
