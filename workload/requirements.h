// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology/demand.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// What a job asks of the servers that it runs on.

/// Parameter servers of a job with so many workers, where nothing else is decided: as many, and no
/// more than RunDetails::max_servers. 0: it does not train by them, for it says neither that nor
/// "(parameter servers)" in the name of its model.
[[nodiscard]] std::uint32_t servers_at(const JobSpec& job, std::uint32_t workers);
/// CPUs that a worker asks for, with its part of those of the parameter servers: at the size asked,
/// of an elastic job at its smallest, where that part is largest.
[[nodiscard]] double cpus_of_worker(const JobSpec& job);
/// What the job needs with each GPU: its workers' CPUs (with those of parameter servers) and memory
/// in equal parts, rounded down.
[[nodiscard]] Demand demand_of(const JobSpec& job);
/// The job goes with that type of GPU; with the GPUs of the server, of which there must be some
/// unless it goes with any.
[[nodiscard]] bool allows(const JobSpec& job, const Topology& topology, GpuTypeId type);
[[nodiscard]] bool allows(const JobSpec& job, const Topology& topology, ServerId server);

}  // namespace starling
