// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.h"

#include "sim/run/run_recorder.h"
#include "sim/world/world.h"

namespace starling {

Result<RunResult> simulate(const Topology& topology, const Trace& trace,
                           const PolicyRegistry& policies, const SimOptions& options) {
  auto world = World::make(topology, trace, policies, options, false);
  if (!world) return world.error();
  if (Status ran = world.value()->run(); !ran.ok()) return ran.error();
  RunResult result = world.value()->result();
  if (options.recorder != nullptr) options.recorder->over(world.value()->now(), result);
  return result;
}

}  // namespace starling
