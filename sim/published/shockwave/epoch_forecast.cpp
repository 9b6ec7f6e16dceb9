// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/epoch_forecast.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace starling {
namespace {

constexpr double kRound_s = 120;
constexpr double kTolerated = 0.4;  // part by which samples may differ from the profile's

double sum(std::vector<double>::const_iterator from, std::int64_t n) {
  return std::accumulate(from, from + n, 0.0);
}

}  // namespace

EpochForecast::EpochForecast(const ShockwaveJob& job, double submitted_s)
    : samples_(job.batches.model().samples), submitted_s_(submitted_s) {
  for (const ShockwaveJob::Epoch& epoch : job.profile) {
    batch_.push_back(epoch.batch);
    profiled_.push_back(std::max(1.0, std::nearbyint(epoch.duration_s)));
  }
  epoch_s_ = profiled_;
}

void EpochForecast::measured(std::uint64_t round, std::uint32_t batch, double steps_per_s) {
  measured_.push_back({round, batch * steps_per_s});
}

double EpochForecast::profiled_samples(double seconds) const {
  double past = 0, samples = 0;
  std::size_t epoch = 0;
  for (; epoch < profiled_.size() && past + profiled_[epoch] <= seconds; ++epoch) {
    past += profiled_[epoch];
    samples += samples_;
  }
  if (epoch == profiled_.size()) --epoch;  // it takes longer than its profile: at the last pace
  if (seconds > past) samples += samples_ * (seconds - past) / epoch_s_[epoch];
  return samples;
}

void EpochForecast::calibrate() {
  // Rounds since the start of all count as if the job had run in each, as theirs do.
  double samples = 0;
  std::uint64_t before = 0;
  for (const Measured& m : measured_) {
    samples += m.samples_per_s * kRound_s * static_cast<double>(m.round - before);
    before = m.round;
  }
  if (samples <= 0) return;
  const double profiled = profiled_samples(kRound_s * static_cast<double>(before));
  if (profiled <= 0 || std::abs(samples - profiled) / profiled <= kTolerated) return;
  const double slower = profiled / samples;
  std::transform(profiled_.begin(), profiled_.end(), epoch_s_.begin(),
                 [&](double seconds) { return seconds * slower; });
}

double EpochForecast::epoch_s() {
  calibrate();
  const std::int64_t seen = std::min(progress_ + 1, epochs());
  return sum(epoch_s_.begin(), seen) / static_cast<double>(seen);
}

std::map<std::uint32_t, double> EpochForecast::expected() const {
  const auto all = static_cast<double>(epochs());
  const std::int64_t seen = std::min(progress_ + 1, epochs());
  const std::set<std::uint32_t> batches(batch_.begin(), batch_.end());
  std::map<std::uint32_t, double> counts;
  for (const std::uint32_t batch : batches)
    counts[batch] = all / static_cast<double>(batches.size());
  for (std::int64_t e = 0; e < seen; ++e) counts[batch_[static_cast<std::size_t>(e)]] += 1;
  const double total = all + static_cast<double>(seen);
  for (auto& [batch, count] : counts) count *= all / total;
  for (std::int64_t e = 0; e < seen; ++e) {
    double& count = counts[batch_[static_cast<std::size_t>(e)]];
    if (count >= 1) count -= 1;
  }
  return counts;
}

double EpochForecast::left_s() {
  const std::int64_t left = epochs() - progress_;
  if (left <= 0) return 1;
  calibrate();
  std::map<std::uint32_t, std::pair<double, double>> times;  // by batch: seconds, epochs
  for (std::size_t e = 0; e < batch_.size(); ++e) {
    times[batch_[e]].first += epoch_s_[e];
    times[batch_[e]].second += 1;
  }
  double seconds = 0, epochs_expected = 0;
  for (const auto& [batch, count] : expected()) {
    epochs_expected += count;
    seconds += count * times[batch].first / times[batch].second;
  }
  const double inflated = std::max(std::floor(epochs_expected + 1), static_cast<double>(left));
  return seconds * static_cast<double>(left) / inflated;
}

double EpochForecast::finish_s(double share) {
  calibrate();
  const double past = sum(epoch_s_.begin(), std::min(progress_, epochs()));
  return submitted_s_ + (past + left_s()) / share;
}

}  // namespace starling
