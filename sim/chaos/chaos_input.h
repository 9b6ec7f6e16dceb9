// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/chaos/chaos.h"
#include "sim/chaos/chaos_faults.h"
#include "workload/traces/trace.h"

namespace starling {

/// What one seed runs.
struct ChaosInput {
  Topology topology;
  Topology wrong;  ///< another site's: as many servers, other GPUs
  Trace trace;
  SimOptions sim;
  std::uint32_t executors_each = 1;
  Duration serial{0};  ///< what the jobs take one after the other, at their least sizes
};

/// 2 to 5 agents, 1 to 3 executors each, 2 to 8 GPUs a server, 30 to 150 jobs, a policy; the size
/// may be given by `options`. `draw_faults` makes the faults once it is known how many nodes there
/// are.
[[nodiscard]] Result<ChaosInput> draw_chaos_input(
    std::uint64_t seed, const PolicyRegistry& policies, const ChaosOptions& options, Rng rng,
    const std::function<ChaosFaults&(std::uint32_t agents, std::uint32_t executors_each)>&
        draw_faults);

}  // namespace starling
