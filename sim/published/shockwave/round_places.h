// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sim/published/shockwave/round_world.h"

namespace starling {

/// GPUs of the `chosen` jobs of a round: larger gangs first, among equals in the order chosen.
/// One that ran in the round before keeps its GPUs unless a larger gang has taken one; the others
/// take the lowest free ones. The gangs fit.
[[nodiscard]] RoundPlaces place_round(const RoundPlaces& before,
                                      std::span<const std::size_t> chosen, const RoundJobs& jobs,
                                      std::uint32_t gpus);

}  // namespace starling
