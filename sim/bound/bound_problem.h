// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"
#include "sim/bound/dual_bound.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// The jobs of a trace on a topology, as fast as physics says: on each type, of each size that a
/// job may have, on the servers that it would have if all were empty. Under goodput that counts
/// what its samples are worth at that size. Other batches than a job asks for, parameter servers of
/// other numbers and gangs over several GPU types are not in it; jobs that can run on no type alone
/// are BoundProblem::others, and those that can never run are left out.
[[nodiscard]] BoundProblem bound_problem(const Topology& topology, const Trace& trace,
                                         const Physics& physics);

}  // namespace starling
