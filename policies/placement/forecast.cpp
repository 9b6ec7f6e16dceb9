// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/forecast.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr std::size_t kFew = 8;  // too few to stand for a job that has outlived most

}  // namespace

void Forecast::follow(std::span<const Residents::Move> moves, Instant now) {
  for (const Residents::Move& move : moves) move.ended ? ended(move, now) : came(move, now);
  version_ += moves.size();
  forget_gone();
  if (groups_.size() > kGroups) forget_some();
}

Forecast::Running Forecast::started(const Residents::Move& move, Instant now) const {
  return {move.submitted, move.since,
          left(move.recurring_group, move.submitted, 0, now, move.order),
          has_history(move.recurring_group)};
}

void Forecast::came(const Residents::Move& move, Instant now) {
  if (!by_group_) return;
  const Running job = started(move, now);
  RecurringGroup& group = groups_[move.recurring_group];
  group.touched = ++moves_;
  // It had not ended but lost its place, and what it did till then is no length of a job.
  std::erase_if(group.ended, [&](const Ended& e) { return e.order == move.order; });
  if (ran_before_.erase(move.order) > 0 && group.running.contains(move.order)) return;
  if (group.running.size() < kKept) group.running[move.order] = job;
}

void Forecast::ended(const Residents::Move& move, Instant now) {
  if (move.worked) {
    const Running* kept = running(move.recurring_group, move.order);
    const Running job = kept != nullptr ? *kept : started(move, now);
    misses_[job.had_history ? 1 : 0].add(move.work_s / job.expected);
    all_.add(move.work_s);
  }
  if (!by_group_) return;
  RecurringGroup& group = groups_[move.recurring_group];
  group.touched = ++moves_;
  group.running.erase(move.order);
  if (!move.worked) return;
  if (group.ended.size() == kKept) group.ended.erase(group.ended.begin());
  const double log_work = std::log(std::max(1.0, move.work_s));
  group.ended.push_back({move.order, move.submitted, move.work_s, log_work});
}

const Forecast::Running* Forecast::running(std::uint64_t group, std::uint64_t order) const {
  const auto at = groups_.find(group);
  if (at == groups_.end()) return nullptr;
  const auto job = at->second.running.find(order);
  return job == at->second.running.end() ? nullptr : &job->second;
}

void Forecast::forget_some() {
  std::vector<std::uint64_t> touched;
  for (const auto& [id, group] : groups_) touched.push_back(group.touched);
  const auto middle = touched.begin() + static_cast<std::ptrdiff_t>(touched.size() / 2);
  std::nth_element(touched.begin(), middle, touched.end());
  std::erase_if(groups_, [&](const auto& known) { return known.second.touched < *middle; });
}

double Forecast::of_all(double attained) const {
  if (attained <= 0 && !all_.knows()) return kUnknown_s;
  const double left = all_.knows() ? all_.median_left(attained) : 0;
  return left > 0 ? left : std::max(attained, kLeast_s);
}

bool Forecast::has_history(std::uint64_t group) const {
  const auto at = groups_.find(group);
  return at != groups_.end() && !at->second.ended.empty();
}

double Forecast::draw(std::uint64_t group, Instant submitted, double attained, Instant now,
                      double u, std::uint64_t order) const {
  const double expected = left(group, submitted, 0, now, order);
  const std::size_t like = has_history(group) ? 1 : 0;
  for (const std::size_t which : {like, 1 - like}) {
    const ServiceHistory& misses = misses_[which];
    if (misses.above(attained / expected) >= kFew)
      return expected * misses.left(attained / expected, u);
  }
  return std::max(attained, kLeast_s) * -std::log1p(-u);
}

double Forecast::left(std::uint64_t group, Instant submitted, double attained, Instant now,
                      std::uint64_t order) const {
  const double prior = of_all(attained);
  const auto at = groups_.find(group);
  if (at == groups_.end()) return prior;
  double weight = kPrior, sum = kPrior * std::log(prior);
  const auto count = [&](Instant theirs, double log_left) {
    const double apart = seconds(theirs - submitted) / kNear_s;
    const double w = 1 / (1 + apart * apart) + kFar;
    weight += w;
    sum += w * log_left;
  };
  for (const Ended& ended : at->second.ended) {
    if (ended.work_s <= attained) continue;
    const double more = ended.work_s - attained;
    count(ended.submitted, attained > 0 ? std::log(std::max(1.0, more)) : ended.log_work);
  }
  for (const auto& [who, running] : at->second.running) {
    if (who == order) continue;
    const double least = std::log(std::max(1.0, 2 * seconds(now - running.since) - attained));
    if (least * weight > sum) count(running.submitted, least);
  }
  return std::exp(sum / weight);
}

}  // namespace starling
