// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "interference/adapt/shift_prior.h"
#include "interference/pairs/shift_task.h"

namespace starling {

/// How fast the speed model gets right after a change of hardware: pairs of a ShiftTask are
/// measured one after another, and the error is that of pairs which are never measured.
struct AdaptationOptions {
  std::uint32_t samples = 80;  ///< pairs that are measured, both directions each
  double held_out = 0.25;      ///< part of the pairs that only judge; at least one does
  double noise = 0.03;         ///< standard deviation of a measured speed, as a part of it
  std::uint64_t seed = 1;      ///< of what is held out, the order and the noise
};

/// Which model answers, and how the next pair is chosen: at random, or by what is not known: the
/// pair whose two speeds, by the model's own covariances, tell most of those of the pairs that are
/// left (the variance that measuring them takes away, summed up over some of these).
enum class AdaptationArm : std::uint8_t {
  shipped_random,
  shipped_directed,
  meta_random,
  meta_directed,
};
inline constexpr std::array kAdaptationArms = {
    AdaptationArm::shipped_random, AdaptationArm::shipped_directed, AdaptationArm::meta_random,
    AdaptationArm::meta_directed};
[[nodiscard]] const char* to_string(AdaptationArm arm) noexcept;

/// After so many measured pairs.
struct AdaptationPoint {
  double mae = 0;         ///< of relative speeds
  double coverage90 = 0;  ///< part of the speeds within their 90 % interval
};
struct AdaptationCurve {
  double shipped = 0;                   ///< mae of the network as it is
  std::vector<AdaptationPoint> points;  ///< from no measured pair on
};

/// The arms with `shipped` are the corrections that agents with `learned` make; those with meta
/// begin as these on a kind of GPU that the network knows, and have to find out that it is another.
/// The task has rows.
[[nodiscard]] AdaptationCurve adaptation_curve(const ShiftTask& task, const ShiftPrior& prior,
                                               AdaptationArm arm, const AdaptationOptions& options);

/// Measured pairs until the error is at most half of the network's and stays there for three in a
/// row; the number of points if it never is.
[[nodiscard]] std::uint32_t samples_to_half(const AdaptationCurve& curve);

}  // namespace starling
