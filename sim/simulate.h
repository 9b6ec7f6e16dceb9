// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "policies/registry.h"
#include "sim/run/run_result.h"
#include "sim/run/sim_options.h"
#include "workload/job.h"

namespace starling {

/// Runs the whole trace through real cores, codec and drivers in one thread of virtual time.
/// Deterministic. Jobs enter at agents in turn (round robin by row). `invalid`: bad policy, or too
/// many agents for the topology; a checker violation names the rule, the time and what it saw.
[[nodiscard]] Result<RunResult> simulate(const Topology& topology, const Trace& trace,
                                         const PolicyRegistry& policies, const SimOptions& options);

}  // namespace starling
