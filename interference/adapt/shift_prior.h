// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "interference/learned/features.h"
#include "nets/weights.h"

namespace starling {

/// What the log speed of a pair on changed hardware may depend on, beside whom it is of: 1, the
/// log slowdown that was believed, the profiles of both (gpu_profile(), scaled), and the product of
/// their GPU utilisations.
constexpr std::size_t kShiftFeatures = 2 + 2 * kGpuProfile + 1;
using ShiftFeatures = std::array<double, kShiftFeatures>;

/// How wrong a model is believed to be on hardware that it was not made for, before anything was
/// measured there: a linear mixed model of the log of measured over predicted speed,
///
///   slopes . features + effect of the victim + effect of the other + effect of the pair + noise,
///
/// all of them independent and normal. The means of the slopes are the meta-initialisation, and
/// the deviations say how far new hardware is from it: both are learned over many shifts, so that
/// few measurements adapt it (interference/pairs/meta_train.h).
struct ShiftPrior {
  std::array<double, kGpuProfile> profile_mean{}, profile_scale{};  ///< scale: times the distance
  ShiftFeatures slope{};                                            ///< means
  ShiftFeatures slope_deviation{};
  double victim = 0.2, other = 0.1, pair = 0.05;  ///< deviations of the effects
  double noise = 0.05;                            ///< of one measured log speed

  /// Of a victim's profile and that of the other. `predicted`: the log slowdown of the victim that
  /// was believed, at least 0.
  [[nodiscard]] ShiftFeatures features(std::span<const float> own, std::span<const float> its,
                                       double predicted) const;

  /// The same with deviations of slopes and effects so many times as large; the noise stays.
  [[nodiscard]] ShiftPrior widened(double times) const;

  void save(Weights& weights) const;
  /// The weights say that they are a prior, of whatever format, and no network.
  [[nodiscard]] static bool is_one(const Weights& weights);
  /// `not_found` or `invalid` names the tensor.
  [[nodiscard]] static Result<ShiftPrior> load(const Weights& weights);
};

/// The one that the program carries, made of Gavel's campaigns by `starling interference meta`.
[[nodiscard]] Result<ShiftPrior> shipped_shift_prior();

}  // namespace starling
