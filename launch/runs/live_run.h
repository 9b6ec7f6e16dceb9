// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"
#include "launch/client/session.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/processes/supervisor.h"
#include "launch/runs/run_options.h"
#include "sim/run/run_result.h"

namespace starling {

struct LiveOptions {
  double speedup = 1;  ///< trace seconds per second
  std::string state;   ///< run directory, or etcd://...; else a temporary one
  EtcdAccess etcd;     ///< with what to get at it
  bool keep = false;   ///< leave a temporary one behind
  bool quiet = false;
};

/// Runs the trace through real processes on this machine: agents, emulated executors, and this
/// process as their client. Times of the result are trace time: what happened, times speedup.
/// Leaves no process behind, and no temporary directory unless asked. `io` with the last lines of
/// its log if a process dies.
[[nodiscard]] Result<RunResult> run_live(const RunInput& input, const PolicyRegistry& policies,
                                         const LiveOptions& options);

/// The client's part: submits every job when it is due, follows each to its end. `broken` is asked
/// now and then and ends the run with its message.
[[nodiscard]] Result<RunResult> drive_trace(
    Session& session, const RunInput& input, double speedup, bool quiet,
    const std::function<std::optional<std::string>()>& broken);

}  // namespace starling
