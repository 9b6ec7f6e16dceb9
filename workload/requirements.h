// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology/demand.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// What a job asks of the servers that it runs on.

/// What the job needs with each GPU: its workers' CPUs and memory in equal parts, rounded down.
[[nodiscard]] Demand demand_of(const JobSpec& job);
/// The job goes with that type of GPU; with the GPUs of the server, of which there must be some
/// unless it goes with any.
[[nodiscard]] bool allows(const JobSpec& job, const Topology& topology, GpuTypeId type);
[[nodiscard]] bool allows(const JobSpec& job, const Topology& topology, ServerId server);

}  // namespace starling
