// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/processes/supervisor.h"
#include "store/hosting/flock_members.h"

namespace starling {

/// Starts the daemon of one node of the flock, its output in nodes/NAME/log. `protocol`: the newest
/// that it speaks.
[[nodiscard]] Status start_node(Supervisor& supervisor, const Deployment& flock,
                                const DeployedNode& node, std::uint16_t protocol = kNewestProtocol);
/// Starts all executors, and the agents that are members.
[[nodiscard]] Status start_flock(Supervisor& supervisor, const Deployment& flock,
                                 const FlockMembers& members = {},
                                 std::uint16_t protocol = kNewestProtocol);

/// Ends what executors of the flock, or of one of its hosts, have started and left behind: those
/// that are not there any more to end it themselves. Waits for it, a few seconds at most.
void end_jobs(const Deployment& flock, const std::string& host = {});

/// A new directory under $TMPDIR for a run that leaves nothing behind.
[[nodiscard]] Result<std::filesystem::path> temporary_dir();

}  // namespace starling
