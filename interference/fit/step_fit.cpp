// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/step_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "interference/fit/nelder_mead.h"

namespace starling {
namespace {

// Unbounded coordinates of the constants.
StepTime time_at(const std::vector<double>& x) {
  StepTime time;
  time.compute_s = std::exp(x[0]);
  time.sample_s = std::exp(x[1]);
  time.server = {std::exp(x[2]), std::exp(x[3])};
  time.rack = {time.server.two_s + std::exp(x[4]), std::exp(x[5])};
  time.network = time.rack;
  time.gamma = 1 + 9 / (1 + std::exp(-x[6]));
  if (x.size() > 7) {
    time.bend = 1 / (1 + std::exp(-x[7]));
    time.crowd_s = std::exp(x[8]);
  }
  return time;
}

std::size_t kind_of(const StepShape& shape) {
  return shape.replicas < 2 ? 0 : shape.tier < Tier::rack ? 1 : 2;
}

std::vector<double> weights_of(std::span<const StepSample> samples) {
  std::array<double, 3> rows{};
  for (const StepSample& s : samples) rows[kind_of(s.shape)] += 1;
  double sum = 0;
  for (const double n : rows) sum += std::sqrt(n);
  std::vector<double> weights;
  weights.reserve(samples.size());
  for (const StepSample& s : samples)
    weights.push_back(1 / (std::sqrt(rows[kind_of(s.shape)]) * sum));
  return weights;
}

}  // namespace

StepTime fit_step_time(std::span<const StepSample> samples, bool further) {
  STARLING_CHECK(!samples.empty());
  const std::vector<double> weights = weights_of(samples);
  double typical = 0;
  double batch = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    typical += weights[i] * samples[i].step_s;
    batch += weights[i] * samples[i].shape.local_batch;
  }
  std::vector<double> start;
  // Squares first, for they have a slope everywhere, then what is reported.
  const auto loss = [&](const std::vector<double>& x, bool squares) {
    const StepTime time = time_at(x);
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double error = std::log(time.step_s(samples[i].shape) / samples[i].step_s);
      sum += weights[i] * (squares ? error * error : std::abs(error));
    }
    // Holds coordinates that no sample speaks for.
    for (std::size_t i = 0; i < x.size(); ++i) sum += 1e-5 * (x[i] - start[i]) * (x[i] - start[i]);
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::max();
  };
  Minimum best;
  best.value = std::numeric_limits<double>::max();
  for (const double sync_part : {0.5, 0.05}) {
    const double sync = typical * sync_part;
    start = {std::log(typical * 0.2),
             std::log(typical * 0.5 / batch),
             std::log(sync * 0.3),
             std::log(sync * 0.02),
             std::log(sync),
             std::log(sync * 0.02),
             -1.0};
    if (further) start.insert(start.end(), {1.0, std::log(sync * 0.02)});
    const Minimum rough =
        minimize([&](const auto& x) { return loss(x, true); }, start, 1.0, 900, 3);
    const Minimum fine =
        minimize([&](const auto& x) { return loss(x, false); }, rough.at, 0.3, 900, 3);
    if (fine.value < best.value) best = fine;
  }
  return time_at(best.at);
}

double mean_relative_error(const StepTime& time, std::span<const StepSample> samples) {
  double sum = 0;
  for (const StepSample& s : samples) sum += std::abs(time.step_s(s.shape) / s.step_s - 1);
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace starling
