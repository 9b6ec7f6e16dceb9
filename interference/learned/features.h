// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "workload/catalogue.h"

namespace starling {

/// What the network for one GPU is told of a job that it has not seen, from the catalogue: how long
/// an iteration takes on a V100, speeds of K80 and P100 beside it, memory, utilisation, bytes
/// exchanged, CPUs, checkpoint. The order is part of every trained file.
constexpr std::size_t kGpuProfile = 8;
[[nodiscard]] std::array<float, kGpuProfile> gpu_profile(const ModelProfile& model) noexcept;

}  // namespace starling
