// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// The types that a job asks for, any of them, as the topology spells them: "v100" is V100.
/// `invalid` if it has none of them. One that it has not stays: servers may come that have it.
[[nodiscard]] Status spell_gpu_types(const Topology& topology, JobSpec& spec);
/// A sentence that names the types which are not there, and those that are; empty: all are.
[[nodiscard]] std::string unknown_gpu_types(const Topology& topology, const JobSpec& spec);

/// Why no agent could ever start this job there, or done. Partitions do not matter: gangs may span
/// them.
[[nodiscard]] Status can_ever_fit(const Topology& topology, const JobSpec& spec);

}  // namespace starling
