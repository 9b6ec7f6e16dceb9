// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/simulate.h"

namespace starling {

/// The world of a live run, for a simulation beside it. All is told in trace time: timers and
/// messages take milliseconds of the machine, and one of its seconds stands for `speedup` of the
/// trace. Agents and executors send heartbeats and digests and take turns, as they do there.
/// `own_network`: that of `sim` was asked for; else it becomes a loopback's.
[[nodiscard]] SimOptions as_live(SimOptions sim, bool own_network, double speedup);

}  // namespace starling
