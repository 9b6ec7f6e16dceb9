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
  if (kins_.size() > kKins) forget_some();
}

Forecast::Running Forecast::started(const Residents::Move& move, Instant now) const {
  return {move.submitted, move.since, left(move.kin, move.submitted, 0, now, move.order),
          has_kin(move.kin)};
}

void Forecast::came(const Residents::Move& move, Instant now) {
  if (!by_kin_) return;
  const Running job = started(move, now);
  Kin& kin = kins_[move.kin];
  kin.touched = ++moves_;
  // It had not ended but lost its place, and what it did till then is no length of a job.
  std::erase_if(kin.ended, [&](const Ended& e) { return e.order == move.order; });
  if (kin.running.size() < kKept) kin.running[move.order] = job;
}

void Forecast::ended(const Residents::Move& move, Instant now) {
  if (move.worked) {
    const Running* kept = running(move.kin, move.order);
    const Running job = kept != nullptr ? *kept : started(move, now);
    misses_[job.had_kin ? 1 : 0].add(move.work_s / job.expected);
    all_.add(move.work_s);
  }
  if (!by_kin_) return;
  Kin& kin = kins_[move.kin];
  kin.touched = ++moves_;
  kin.running.erase(move.order);
  if (!move.worked) return;
  if (kin.ended.size() == kKept) kin.ended.erase(kin.ended.begin());
  const double log_work = std::log(std::max(1.0, move.work_s));
  kin.ended.push_back({move.order, move.submitted, move.work_s, log_work});
}

const Forecast::Running* Forecast::running(std::uint64_t kin, std::uint64_t order) const {
  const auto at = kins_.find(kin);
  if (at == kins_.end()) return nullptr;
  const auto job = at->second.running.find(order);
  return job == at->second.running.end() ? nullptr : &job->second;
}

void Forecast::forget_some() {
  std::vector<std::uint64_t> touched;
  for (const auto& [id, kin] : kins_) touched.push_back(kin.touched);
  const auto middle = touched.begin() + static_cast<std::ptrdiff_t>(touched.size() / 2);
  std::nth_element(touched.begin(), middle, touched.end());
  std::erase_if(kins_, [&](const auto& known) { return known.second.touched < *middle; });
}

double Forecast::of_all(double attained) const {
  if (attained <= 0 && !all_.knows()) return kUnknown_s;
  const double left = all_.knows() ? all_.median_left(attained) : 0;
  return left > 0 ? left : std::max(attained, kLeast_s);
}

bool Forecast::has_kin(std::uint64_t kin) const {
  const auto at = kins_.find(kin);
  return at != kins_.end() && !at->second.ended.empty();
}

double Forecast::draw(std::uint64_t kin, Instant submitted, double attained, Instant now, double u,
                      std::uint64_t order) const {
  const double expected = left(kin, submitted, 0, now, order);
  const std::size_t like = has_kin(kin) ? 1 : 0;
  for (const std::size_t which : {like, 1 - like}) {
    const ServiceHistory& misses = misses_[which];
    if (misses.above(attained / expected) >= kFew)
      return expected * misses.left(attained / expected, u);
  }
  return std::max(attained, kLeast_s) * -std::log1p(-u);
}

double Forecast::left(std::uint64_t kin, Instant submitted, double attained, Instant now,
                      std::uint64_t order) const {
  const double prior = of_all(attained);
  const auto at = kins_.find(kin);
  if (at == kins_.end()) return prior;
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
