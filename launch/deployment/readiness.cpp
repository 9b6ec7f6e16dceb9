// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/readiness.h"

#include <algorithm>
#include <map>

#include "base/counted.h"

namespace starling {
namespace {

std::uint32_t gpus_of(const DeployedNode& executor, const Topology& topology) {
  std::uint32_t gpus = 0;
  const std::uint32_t last = std::min(executor.servers.last, topology.server_count());
  for (std::uint32_t s = executor.servers.first; s < last; ++s)
    gpus += topology.server(ServerId{s}).gpus.size();
  return gpus;
}

}  // namespace

std::uint32_t awaited_gpus(const AgentStatus& status) {
  return status.quarantined - std::min(status.quarantined, status.sick + status.resting);
}

Readiness readiness(const Deployment& flock, const Topology& topology,
                    const std::vector<AgentStatus>& answered, const std::set<std::string>& away) {
  std::map<PartitionId, std::uint32_t> given_up;
  for (const DeployedNode* executor : flock.with_role(Role::executor)) {
    if (!away.contains(executor->name)) continue;
    given_up[executor->partition] += gpus_of(*executor, topology);
  }
  Readiness found;
  std::set<PartitionId> served;
  std::uint32_t waiting = 0, silent = 0;
  for (const AgentStatus& status : answered) {
    const PartitionId partition{status.agent.value};
    served.insert(partition);
    const std::uint32_t out = awaited_gpus(status);
    waiting += out - std::min(out, given_up[partition]);
  }
  for (const DeployedNode* agent : flock.with_role(Role::agent)) {
    if (!served.contains(agent->partition) && !away.contains(agent->name)) ++silent;
  }
  found.agents = static_cast<std::uint32_t>(served.size());
  found.ready = found.agents > 0 && silent == 0 && waiting == 0;
  found.missing = std::to_string(found.agents) + " of " + std::to_string(flock.agents()) +
                  " agents answer, " + counted(waiting, "GPU waits", "GPUs wait") +
                  " for their executor";
  return found;
}

}  // namespace starling
