// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/chaos/scenario/scenario.h"

namespace starling::chaos_live {

/// The kind of `chaos sim` that does to a simulated flock what `kind` does to a real one ("F1",
/// "F20-gone"); empty: none does.
[[nodiscard]] const char* counterpart_of(LiveFaultKind kind);

/// Whether an entry of `faults` can be played in simulation. The members of etcd are not there: a
/// world has one authority, out of reach of an agent or not.
[[nodiscard]] bool has_counterpart(const FaultSpec& spec);

/// A storm is at most so many times the load in simulation: the checker looks at every job after
/// each event.
constexpr double kMostStorm = 10;

/// What a simulation of the scenario leaves out, each by name and with the reason: kinds of faults,
/// manners of jobs, keys of load and expect. Empty: nothing.
[[nodiscard]] std::vector<std::string> without_counterpart(const ChaosScenario& scenario);

}  // namespace starling::chaos_live
