// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/shockwave_rounds.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "sim/published/shockwave/round_order.h"

namespace starling {
namespace {

constexpr double kRound_s = 120;
constexpr std::uint32_t kAhead = 20, kReplan = 8;
constexpr double kPerSecond = 1e-3;  // k, of the longest time left
constexpr double kPower = 12;        // lambda
constexpr double kNearlyOver = 100;  // the power where less than a round is left
constexpr double kMomentum = 0.9;    // of the mean of earlier expectations
constexpr double kHeaviest = 1e6;    // one that weighs more is first in any order

/// The logarithm of a part that is done, linear between fifths; that of nothing is that of 1e-6.
double log_progress(double part) {
  constexpr double kStep = 0.2;
  const auto fifth = [](int i) { return i == 0 ? std::log(1e-6) : std::log(kStep * i); };
  const int i = std::clamp(static_cast<int>(part / kStep), 0, 4);
  return fifth(i) + (fifth(i + 1) - fifth(i)) * (part / kStep - i);
}

/// The mean over the rounds for which each expectation stood, and some of the last.
double expected(const std::vector<std::pair<std::uint64_t, double>>& finishes,
                std::uint64_t round) {
  const double last = finishes.back().second;
  double sum = 0, stood = 0;
  for (std::size_t i = 0; i < finishes.size(); ++i) {
    const std::uint64_t until = i + 1 < finishes.size() ? finishes[i + 1].first : round;
    const auto rounds = static_cast<double>(until - finishes[i].first);
    sum += rounds * finishes[i].second;
    stood += rounds;
  }
  return kMomentum * (stood > 0 ? sum / stood : last) + (1 - kMomentum) * last;
}

}  // namespace

void ShockwaveRounds::added(std::size_t job, const RoundView& view) {
  const ShockwaveJob& spec = *view.jobs.at(job).spec;
  known_.emplace(job, Known{EpochForecast(spec, view.now_s), spec.gpus, {}});
  stale_ = changed_ = true;
}

void ShockwaveRounds::ran(std::size_t job, const RoundRan& what, const RoundView& view) {
  const double pace = what.seconds > 0 ? static_cast<double>(what.steps) / what.seconds : 0;
  known_.at(job).forecast.measured(view.round, view.jobs.at(job).batch, pace);
}

void ShockwaveRounds::removed(std::size_t job) {
  known_.erase(job);
  stale_ = changed_ = true;
}

void ShockwaveRounds::round_over(const RoundView& view) {
  for (const std::size_t id : running_) {
    const auto known = known_.find(id);
    if (known == known_.end()) continue;
    const RoundJob& job = view.jobs.at(id);
    known->second.forecast.set_progress(job.done / job.spec->batches.steps_per_epoch(job.batch));
  }
  if (++rounds_ < kReplan) return;
  rounds_ = 0;
  stale_ = true;
}

std::vector<std::size_t> ShockwaveRounds::choose(const RoundView& view) {
  if (stale_ || !plan_.contains(view.round)) plan(view.round);
  running_ = plan_.at(view.round);
  return running_;
}

double ShockwaveRounds::part() const {
  return std::min(1.0, static_cast<double>(gpus_) / static_cast<double>(known_.size()));
}

std::vector<ShockwaveRounds::Planned> ShockwaveRounds::gather(std::uint64_t round) {
  if (changed_) {
    for (auto& [id, known] : known_)
      known.finishes.emplace_back(round, known.forecast.finish_s(part()));
    changed_ = false;
  }
  std::vector<Planned> jobs;
  for (auto& [id, known] : known_) {
    EpochForecast& forecast = known.forecast;
    Planned& job = jobs.emplace_back();
    job.id = id;
    job.rounds.gpus = known.gpus;
    const double epoch_s = forecast.epoch_s();
    job.left_s = forecast.left_s();
    job.target_s = expected(known.finishes, round);
    const auto all = static_cast<double>(forecast.epochs());
    const auto past = static_cast<double>(forecast.progress());
    for (std::uint32_t count = 0; count <= kAhead; ++count) {
      const double epochs = std::min(count * kRound_s / epoch_s, all - past);
      job.rounds.worth.push_back(log_progress(std::min(1.0, (past + epochs) / all)));
      job.rounds.left_s.push_back(std::max(0.0, job.left_s - epochs * epoch_s));
    }
  }
  return jobs;
}

bool ShockwaveRounds::in_time(std::vector<Planned>& jobs, std::uint64_t round) const {
  const double planned_until = kRound_s * static_cast<double>(round + kAhead);
  std::uint64_t used = 0;
  for (Planned& job : jobs) {
    const auto enough = std::ranges::find_if(job.rounds.left_s, [&](double left) {
      return planned_until + left / part() <= job.target_s;
    });
    if (enough == job.rounds.left_s.end()) return false;
    job.rounds.least = static_cast<std::uint32_t>(enough - job.rounds.left_s.begin());
    used += std::uint64_t{1} * job.rounds.least * job.rounds.gpus;
  }
  return used <= std::uint64_t{1} * gpus_ * kAhead;
}

void ShockwaveRounds::weigh(std::vector<Planned>& jobs, std::uint64_t round) {
  for (Planned& job : jobs) {
    EpochForecast& forecast = known_.at(job.id).forecast;
    forecast.calibrate();  // theirs does so twice here, and each call moves on
    const double left = forecast.left_s();
    const double ratio = (kRound_s * static_cast<double>(round) + left / part()) / job.target_s;
    if (ratio > 1) job.weight = std::pow(ratio, left < kRound_s ? kNearlyOver : kPower);
    job.rounds.least = 0;
  }
}

void ShockwaveRounds::fill(std::vector<std::size_t>& chosen,
                           const std::vector<Planned>& jobs) const {
  std::vector<bool> runs(jobs.size(), false);
  std::uint32_t left = gpus_;
  for (const std::size_t j : chosen) {
    runs[j] = true;
    left -= jobs[j].rounds.gpus;
  }
  std::vector<std::size_t> others;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (!runs[j]) others.push_back(j);
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].left_s > jobs[b].left_s; });
  for (const std::size_t j : others) {
    if (jobs[j].rounds.gpus > left) continue;
    left -= jobs[j].rounds.gpus;
    chosen.push_back(j);
  }
}

void ShockwaveRounds::plan(std::uint64_t round) {
  std::vector<Planned> jobs = gather(round);
  if (!in_time(jobs, round)) weigh(jobs, round);
  std::vector<RoundWorth> worths;
  for (Planned& job : jobs) {
    // Less that of all rounds, lest the weight of one that has them drowns the other jobs' worths.
    RoundWorth& worth = worths.emplace_back(job.rounds);
    const double scale = job.weight / static_cast<double>(jobs.size() * kAhead);
    for (double& w : worth.worth) w = scale * (w - job.rounds.worth.back());
  }
  const auto counts = best_round_counts(worths, gpus_ * kAhead, kPerSecond);
  STARLING_CHECK(counts.has_value());  // least numbers are 0, or fit
  std::vector<CountedRounds> counted;
  for (std::size_t j = 0; j < jobs.size(); ++j)
    counted.push_back({jobs[j].rounds.gpus, (*counts)[j], std::min(jobs[j].weight, kHeaviest)});
  auto order = order_rounds(counted, kAhead, gpus_);
  plan_.clear();
  for (std::uint32_t r = 0; r < kAhead; ++r) {
    std::vector<std::size_t>& chosen = plan_[round + r] = std::move(order[r]);
    fill(chosen, jobs);
    for (std::size_t& j : chosen) j = jobs[j].id;
  }
  stale_ = false;
}

}  // namespace starling
