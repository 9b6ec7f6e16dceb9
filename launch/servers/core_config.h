// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/config.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "topology/topology.h"

namespace starling {

/// What the cores of a deployed flock are configured with: the same in every life of a node.
/// `invalid` where the deployment names a policy that there is not, or partitions that the topology
/// cannot have.
[[nodiscard]] Result<AgentConfig> agent_config(const Deployment& deployment,
                                               const Topology& topology, AgentId me);
[[nodiscard]] Result<ExecutorConfig> executor_config(const Deployment& deployment,
                                                     const DeployedNode& me);

}  // namespace starling
