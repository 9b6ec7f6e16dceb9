// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/noise_fit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace starling {
namespace {

constexpr double kMostPhi = 1000;     // of the largest batch
constexpr double kLeastPhi = 0.0001;  // of the own batch

// The mean of log phi over [from, to) of a training.
double mean_log_phi(const std::vector<NoiseSample>& epochs, double from, double to,
                    const NoiseScale& noise) {
  double sum = 0;
  double length = 0;
  double begin = 0;
  for (const NoiseSample& epoch : epochs) {
    const double part = std::min(epoch.done, to) - std::max(begin, from);
    begin = epoch.done;
    if (part <= 0) continue;
    const double phi = noise_scale(epoch.variance, epoch.square, noise.own_batch);
    sum += part *
           std::log(std::clamp(phi, kLeastPhi * noise.own_batch, kMostPhi * noise.largest_batch));
    length += part;
  }
  STARLING_CHECK(length > 0);
  return sum / length;
}

}  // namespace

NoiseScale fit_noise(const NoiseRuns& runs) {
  STARLING_CHECK(!runs.empty());
  NoiseScale noise;
  noise.own_batch = runs.begin()->first;
  noise.largest_batch = runs.rbegin()->first;
  double from = 0;
  for (std::size_t part = 0; part < kNoiseParts.size(); from = kNoiseParts[part++]) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [batch, epochs] : runs) {
      const double scale = std::log(batch / noise.own_batch);
      const double phi = mean_log_phi(epochs, from, kNoiseParts[part], noise);
      n += 1;
      x += scale;
      y += phi;
      xx += scale * scale;
      xy += scale * phi;
    }
    const double scatter = n * xx - x * x;
    const double slope = scatter > 0 ? std::max(0.0, (n * xy - x * y) / scatter) : 0;
    noise.slope[part] = slope;
    noise.at_own[part] = std::exp((y - slope * x) / n);
  }
  return noise;
}

double mean_efficiency_error(const NoiseScale& noise, const NoiseRuns& runs) {
  double sum = 0;
  std::size_t rows = 0;
  for (const auto& [batch, epochs] : runs) {
    if (batch <= noise.own_batch) continue;
    double begin = 0;
    for (const NoiseSample& epoch : epochs) {
      const double middle = (begin + epoch.done) / 2;
      begin = epoch.done;
      const double phi = noise_scale(epoch.variance, epoch.square, noise.own_batch);
      sum += std::abs(statistical_efficiency(phi, noise.own_batch, batch) -
                      statistical_efficiency(noise.phi(middle, batch), noise.own_batch, batch));
      ++rows;
    }
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

}  // namespace starling
