// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "topology/compare.h"
#include "topology/topology.h"

namespace starling {

/// A flock's next generation: the same agents with partitions in the same order, executors that
/// keep their servers, new ones for servers that none can serve with its own.
struct NewServers {
  TopologyChange change;
  Deployment flock;  ///< of the next generation
  std::vector<std::string> new_executors, gone_executors;
};

/// Borders between partitions stay where they are among the servers that stay. Servers that come
/// go to the executor between whose servers they stand; at a border to new executors of the
/// partition with which they share the rack, else the pod, else of the one with fewer GPUs, at
/// most `servers_per_executor` each. `used`: no new executor has a number below. `server_hosts`:
/// the host of each server of `after`, of a flock on hosts; servers that stay stay there, and
/// executors have servers of one host. `invalid`: in one sentence what cannot be done.
[[nodiscard]] Result<NewServers> plan_servers(const Deployment& flock, const Topology& before,
                                              const Topology& after,
                                              std::uint32_t servers_per_executor,
                                              std::uint32_t used,
                                              const std::vector<std::string>& server_hosts = {});

/// Of the executor that has most.
[[nodiscard]] std::uint32_t usual_servers_per_executor(const Deployment& flock);

/// A line for each server that comes, goes or changes, and what the network does, for people.
[[nodiscard]] std::vector<std::string> describe(const NewServers& servers, const Topology& before,
                                                const Topology& after);

/// Servers of `before` that have to be empty first: those that go and those that change.
[[nodiscard]] std::vector<ServerId> to_be_drained(const TopologyChange& change);

}  // namespace starling
