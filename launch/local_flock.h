#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "launch/deployment.h"
#include "launch/supervisor.h"

namespace starling {

/// Starts the daemon of one node of the flock, its output in nodes/NAME/log.
[[nodiscard]] Status start_node(Supervisor& supervisor, const Deployment& flock,
                                const DeployedNode& node);
/// Starts all agents and executors.
[[nodiscard]] Status start_flock(Supervisor& supervisor, const Deployment& flock);

/// A new directory under $TMPDIR for a run that leaves nothing behind.
[[nodiscard]] Result<std::filesystem::path> temporary_dir();

}  // namespace starling
