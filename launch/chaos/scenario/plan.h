// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// One fault that is to happen. What it hits is drawn from `rng` when it happens, among those that
/// are there then.
struct PlannedFault {
  double at = 0;         ///< seconds from the start
  std::size_t spec = 0;  ///< index in ChaosScenario::faults
  double lasts = 0, down = 0;
  Rng rng{0};
};

/// When each fault of the scenario happens, in order of time. Same scenario and seed, same plan.
[[nodiscard]] std::vector<PlannedFault> plan_of(const ChaosScenario& scenario);

}  // namespace starling::chaos_live
