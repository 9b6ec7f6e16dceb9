// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "interference/goodput/goodput.h"
#include "workload/catalogue.h"

namespace starling {

/// What is known of a model whose batch may change: fitted constants, on the machines of a source.
struct GoodputProfile {
  std::string_view model;   ///< catalogue name
  std::string_view source;  ///< whose measurements, and on which GPUs
  double step_error = 0;    ///< mean relative error of the step times, at all batch sizes
  double noise_error = 0;   ///< mean absolute error of the statistical efficiency
  BatchLimits limits;       ///< as the source measured
  StepTime time;
  NoiseScale noise;
};

[[nodiscard]] std::span<const GoodputProfile> goodput_profiles() noexcept;
/// Of a model's family; null where its noise was not measured.
[[nodiscard]] const GoodputProfile* goodput_profile(const ModelProfile& model) noexcept;

}  // namespace starling
