// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "agents/message.h"
#include "launch/deployment/deployment.h"
#include "topology/topology.h"

namespace starling {

/// GPUs of executors that the agent waits for: those in quarantine, but for bad ones and for those
/// of executors that answer and rest.
[[nodiscard]] std::uint32_t awaited_gpus(const AgentStatus& status);

/// How much of a flock is there.
struct Readiness {
  /// At least one agent serves, and those that are not there are away: nothing should wait for
  /// them.
  bool ready = false;
  std::uint32_t agents = 0;  ///< that answer
  std::string missing;       ///< for people
};

/// From the agents that answer, and the names of the daemons whose keepers call them away: their
/// GPUs stay in quarantine, and a partition without its agent waits for it or for a stand-in.
[[nodiscard]] Readiness readiness(const Deployment& flock, const Topology& topology,
                                  const std::vector<AgentStatus>& answered,
                                  const std::set<std::string>& away);

}  // namespace starling
