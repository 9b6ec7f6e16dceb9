// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace starling {

/// Parts of a training between which the noise scale changes, in [0, 1]: the first begins at 0, the
/// last ends at 1. The first two hundredths are a part of their own, for there it is smallest.
inline constexpr std::array<double, 11> kNoiseParts = {0.02, 0.1, 0.2, 0.3, 0.4, 0.5,
                                                       0.6,  0.7, 0.8, 0.9, 1.0};
/// Index in kNoiseParts of the part in which that much of the training is done.
[[nodiscard]] std::size_t noise_part(double done) noexcept;

/// The gradient noise scale phi of one model, in samples: the batch at which the variance of the
/// gradient equals its square (McCandlish 2018). Constant in each part of the training, and within
/// it phi = at_own * (M / own_batch)^slope: it is measured larger with larger batches M, whose
/// learning rates are larger too. M counts as no less than own_batch and no more than
/// largest_batch.
struct NoiseScale {
  double own_batch = 1;      ///< M0, the smallest that was measured
  double largest_batch = 1;  ///< the largest one
  std::array<double, kNoiseParts.size()> at_own{};
  std::array<double, kNoiseParts.size()> slope{};

  [[nodiscard]] double phi(double done, double batch) const noexcept;
};

/// phi from what a job measures of its gradient: variance (of one at own_batch) and square of its
/// norm. Infinite where the square is 0.
[[nodiscard]] double noise_scale(double variance, double square, double own_batch) noexcept;

/// Progress of a sample in a batch of `batch`, in that of one in a batch of own_batch: (phi + M0) /
/// (phi + M), in (0, 1] for larger batches, above 1 for smaller ones. 1 where phi is infinite.
[[nodiscard]] double statistical_efficiency(double phi, double own_batch, double batch) noexcept;

/// Progress of a step, in that of one at own_batch: M/M0 times the efficiency, which is Pollux'
/// (variance + square) / (variance / (M/M0) + square). Between 1 and M/M0 for larger batches.
[[nodiscard]] double step_gain(double phi, double own_batch, double batch) noexcept;

}  // namespace starling
