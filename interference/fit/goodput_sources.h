// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "interference/fit/noise_fit.h"
#include "interference/fit/step_fit.h"

namespace starling {

/// A step and where it was measured: the placement as Pollux writes it, else the number of GPUs.
struct PlacedStep {
  std::string placement;
  StepSample sample;
};

/// By application. Each names the file that cannot be read.
[[nodiscard]] Result<std::map<std::string, std::vector<PlacedStep>>> read_pollux_placements(
    const std::filesystem::path& folder);
[[nodiscard]] Result<std::map<std::string, std::vector<StepSample>>> read_pollux_scalability(
    const std::filesystem::path& folder);
[[nodiscard]] Result<std::map<std::string, NoiseRuns>> read_pollux_noise(
    const std::filesystem::path& folder);
/// By GPU type and model.
using ScalingSteps = std::map<std::pair<std::string, std::string>, std::vector<StepSample>>;
[[nodiscard]] Result<ScalingSteps> read_elasticflow_steps(const std::filesystem::path& folder);

}  // namespace starling
