// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// The types that a job asks for, as the topology spells them: "v100" is V100. `invalid` names one
/// that is not there, and those that are.
[[nodiscard]] Status spell_gpu_types(const Topology& topology, JobSpec& spec);

/// Why no agent could ever start this job there, or done. Partitions do not matter: gangs may span
/// them.
[[nodiscard]] Status can_ever_fit(const Topology& topology, const JobSpec& spec);

}  // namespace starling
