// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"
#include "policies/fractional/demand.h"

namespace starling {

// Sets of demand.gpus GPUs with at least demand.gpu_milli left each; there must be as many. Among
// equals the lower number.

/// Those with the least left: shared GPUs before whole ones.
[[nodiscard]] GpuSet fullest_gpus(std::span<const std::uint16_t> free, const PodDemand& demand);
/// Those with the most left.
[[nodiscard]] GpuSet emptiest_gpus(std::span<const std::uint16_t> free, const PodDemand& demand);
[[nodiscard]] GpuSet any_gpus(std::span<const std::uint16_t> free, const PodDemand& demand,
                              Rng& rng);

}  // namespace starling
