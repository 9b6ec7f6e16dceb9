// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scheduling/policy.h"
#include "topology/occupancy.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// Empty if the servers of the data centre, all free, have the CPUs and the memory for the job;
/// else what is lacking, and what there is. For the same data centre the same answer for ever.
[[nodiscard]] std::string lacks_means(const Topology& topology, const JobSpec& spec);

/// With how many of the GPUs that another partition said are free its CPUs and memory go, for
/// people (", its CPUs ..."); empty: it asks for none.
[[nodiscard]] std::string means_there(const Topology& topology, const RemoteDigest& said,
                                      const JobSpec& spec);

/// With how many of the free GPUs here its CPUs and memory go, for people; empty: it asks for none.
[[nodiscard]] std::string means_left(const Occupancy& gpus, const JobSpec& spec);

}  // namespace starling
