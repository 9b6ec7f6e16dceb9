// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/chaos/scenario/scenario.h"
#include "sim/chaos/chaos.h"

namespace starling::chaos_live {

/// Plays a scenario of `chaos live` on a simulated flock of the same shape, without what
/// without_counterpart() names, with the checker of `chaos sim` after every event and all that it
/// looks at after the healing. Rule "expected": what `expect` counts did not happen. Of `options`
/// counts what is not of drawing: demo, plant, twice_every. The scenario's seed is the run's. Pure.
/// `invalid`, `not_found`: a bad policy.
[[nodiscard]] Result<ChaosRun> simulate_scenario(const ChaosScenario& scenario,
                                                 const PolicyRegistry& policies,
                                                 const ChaosOptions& options);

}  // namespace starling::chaos_live
