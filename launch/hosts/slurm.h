// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "launch/remote/host.h"
#include "topology/topology.h"

namespace starling {

/// The hosts of the Slurm allocation that this process is in. Where they are named as servers of
/// the topology, each is that server; where none is, the servers are spread over them. `flock_name`
/// names their directories. `invalid` outside an allocation, or where only some are servers.
[[nodiscard]] Result<HostSet> slurm_hosts(const Topology& topology, const std::string& flock_name);

}  // namespace starling
