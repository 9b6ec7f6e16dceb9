// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "topology/partition.h"
#include "topology/topology.h"

namespace starling {

/// What every flock that `up` made is, however its file was changed since: known kinds, names and
/// ids of their own that go with the role, agents 0 to n-1 each with its own partition, executors
/// of those partitions with servers. `invalid` names the first field that is not.
[[nodiscard]] Status check_deployment(const Deployment& flock);

/// What each agent owns: the cut of the data centre, or since the servers have changed what its
/// executors serve. By id. `invalid` if that cannot be.
[[nodiscard]] Result<std::vector<Partition>> partitions_of(const Deployment& flock,
                                                           const Topology& topology);

/// Whether the flock was made for this data centre: the executors of each partition serve exactly
/// its servers. `invalid` says in one sentence what does not fit and what to do.
[[nodiscard]] Status fits_topology(const Deployment& flock, const Topology& topology);

}  // namespace starling
