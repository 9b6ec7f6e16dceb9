// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "launch/experiment/experiment.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// Opens or generates. `invalid` and `io` as the readers say.
[[nodiscard]] Result<Topology> open_topology(const TopologySource& source);
/// The window of the trace; empty for a generated workload, whose jobs depend on cluster and seed.
[[nodiscard]] Result<Trace> open_workload(const WorkloadSource& source);

/// What offered load is relative to: GPUs or, where physics knows their types, GPUs in V100s.
[[nodiscard]] double capacity(const Topology& topology, PhysicsKind physics);

/// The jobs of one paired run: durations clipped, gangs cut and laid out for the servers there
/// are, models drawn, submit times stretched such that
/// GPU-seconds / (capacity x span of submissions) = load (0: left as they are).
/// Equal arguments give equal jobs, whatever the policy. `invalid`: no job, or one that can never
/// fit.
[[nodiscard]] Result<Trace> prepare_jobs(const Trace& base, const WorkloadSource& workload,
                                         const TopologySource& source, const Topology& topology,
                                         double load, std::uint64_t seed, PhysicsKind physics);

}  // namespace starling
