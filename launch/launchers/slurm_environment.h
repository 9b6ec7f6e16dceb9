// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agents/executor/executor.h"
#include "agents/parts/gang_layout.h"
#include "topology/topology.h"

namespace starling {

using Names = std::map<std::string, std::string>;

/// STARLING_ARRAY_ID, _TASK_ID, _TASK_COUNT, _TASK_MIN and _TASK_MAX of a task of an array.
void add_array(Names& names, const JobTerms& terms);

/// What Slurm tells the processes of a job, for jobs that came by Slurm's names: their environment
/// has STARLING_SLURM=1. SLURM_PROCID and SLURM_LOCALID are of one worker: add_slurm_worker().
void add_slurm(Names& names, const LaunchSpec& spec, const std::vector<GangPart>& parts,
               const Topology& topology);
void add_slurm_worker(Names& names);

}  // namespace starling
