// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/noise_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {

std::size_t noise_part(double done) noexcept {
  const auto* part = std::upper_bound(kNoiseParts.begin(), kNoiseParts.end(), done);
  return std::min<std::size_t>(static_cast<std::size_t>(part - kNoiseParts.begin()),
                               kNoiseParts.size() - 1);
}

double NoiseScale::phi(double done, double batch) const noexcept {
  const std::size_t part = noise_part(done);
  const double scale = std::clamp(batch, own_batch, largest_batch) / own_batch;
  return at_own[part] * std::pow(scale, slope[part]);
}

double noise_scale(double variance, double square, double own_batch) noexcept {
  if (square <= 0) return std::numeric_limits<double>::infinity();
  return own_batch * variance / square;
}

double statistical_efficiency(double phi, double own_batch, double batch) noexcept {
  if (!std::isfinite(phi)) return 1;
  return (phi + own_batch) / (phi + batch);
}

double step_gain(double phi, double own_batch, double batch) noexcept {
  return batch / own_batch * statistical_efficiency(phi, own_batch, batch);
}

}  // namespace starling
