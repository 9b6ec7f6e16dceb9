// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "interference/goodput/noise_scale.h"

namespace starling {

/// What one epoch of a training measured of its gradient.
struct NoiseSample {
  double done = 0;  ///< part of the training that was done when it ended
  double variance = 0;
  double square = 0;
};

/// A model's epochs in order, by batch size.
using NoiseRuns = std::map<double, std::vector<NoiseSample>>;

/// In each part of the training the line through log phi over log batch, phi averaged over the
/// epochs as long as they took; it never falls. The smallest batch is the own one. A phi above a
/// thousand times the largest batch, as where a gradient's square was 0, counts as that: the
/// efficiency is 1 within a thousandth. At least one run, none empty.
[[nodiscard]] NoiseScale fit_noise(const NoiseRuns& runs);

/// Mean of |fitted - measured| statistical efficiency over all epochs of all batches above the own
/// one; 0 for none.
[[nodiscard]] double mean_efficiency_error(const NoiseScale& noise, const NoiseRuns& runs);

}  // namespace starling
