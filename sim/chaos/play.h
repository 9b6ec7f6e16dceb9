// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sim/chaos/chaos_input.h"
#include "sim/chaos/fault_script.h"

namespace starling {

/// Runs a world whose faults have been scheduled through them, and through all that has to come
/// true after the healing (ChaosPhases); the checker looks at every event.
[[nodiscard]] ChaosRun play_chaos(std::uint64_t seed, const ChaosInput& input, World& world,
                                  FaultScript& faults);

/// What `once` gives; of every `every`-th seed it is called twice, and both have to have done the
/// same (S12). 0: never.
[[nodiscard]] Result<ChaosRun> play_twice(std::uint64_t seed, std::uint32_t every,
                                          const std::function<Result<ChaosRun>()>& once);

}  // namespace starling
