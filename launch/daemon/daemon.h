#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/config.h"
#include "agents/record.h"
#include "base/result.h"
#include "bus/node.h"
#include "launch/deployment.h"
#include "launch/scaled_clock.h"
#include "launch/state_dir.h"

namespace starling {

/// `starling agent --config FILE` and `starling executor --config FILE`: until SIGTERM. Return the
/// exit status: kDone after a clean stop, kBadInput for a wrong configuration or a state directory
/// in use, kDiskFailed when the journal could not be written. `launcher` overrides the
/// deployment's, if not empty.
int run_agent(const std::filesystem::path& config);
int run_executor(const std::filesystem::path& config, const std::string& launcher);

/// What both kinds of daemon open before they can begin.
struct DaemonParts {
  Deployment deployment;
  DeployedNode me;
  Topology topology;
  StateDir state;
  Incarnation incarnation;
  std::unique_ptr<Journal> journal;
  std::vector<Record> recovered;
  std::unique_ptr<Endpoint> endpoint;
};
/// Logs as the node's name from here on. `io` comes from the disk or from the network's side of it.
[[nodiscard]] Result<DaemonParts> open_daemon(const std::filesystem::path& config, Role role);
/// Says why it could not be opened; the exit status.
int daemon_failed(const Error& error);

/// Turns of `node` until a stop is requested. `compact` is called when the journal, in which earlier
/// lives left `inherited` records, has grown much; `pulse` every few seconds. The exit status.
int serve(Node& node, const ScaledClock& clock, std::uint64_t inherited,
          const std::function<Status()>& compact, const std::function<void()>& pulse);

[[nodiscard]] Result<AgentConfig> agent_config(const Deployment& deployment,
                                               const Topology& topology, AgentId me);
[[nodiscard]] Result<ExecutorConfig> executor_config(const Deployment& deployment,
                                                     const DeployedNode& me);

/// As many open files as the system lets us have: every peer costs two.
void raise_file_limit();

}  // namespace starling
