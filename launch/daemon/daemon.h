// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/config.h"
#include "agents/record.h"
#include "base/result.h"
#include "bus/wire/node.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/old_state.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/deployment/state_dir.h"
#include "launch/servers/partition_state.h"

namespace starling {

/// `starling agent --config FILE` and `starling executor --config FILE`: until SIGTERM. Return the
/// exit status: kDone after a clean stop, kBadInput for a wrong configuration or a state directory
/// in use, kDiskFailed when the journal could not be written. An agent whose journal is in etcd
/// ends for neither etcd nor another owner: it waits until it may serve again, and serves
/// partitions whose own agents are gone.
/// `launcher` overrides the deployment's, if not empty. `protocol`: the newest to be spoken.
int run_agent(const std::filesystem::path& config, std::uint16_t protocol = kNewestProtocol);
int run_executor(const std::filesystem::path& config, const std::string& launcher,
                 std::uint16_t protocol = kNewestProtocol);

/// What both kinds of daemon open before they can begin.
struct DaemonParts {
  Deployment deployment;
  DeployedNode me;
  Topology topology;
  StateDir state;
  Incarnation incarnation;
  std::filesystem::path keys;
  std::uint16_t protocol = kNewestProtocol;
};
/// Logs as the node's name from here on. `io` comes from the disk or from the network's side of it.
[[nodiscard]] Result<DaemonParts> open_daemon(const std::filesystem::path& config, Role role,
                                              std::uint16_t protocol);
/// What its node says of itself on the bus. `sole`: the journal in the state directory is its only
/// one, which was at `found` when it was read.
[[nodiscard]] NodeOptions node_options(const ScaledClock& clock, bool sole, std::uint64_t found);
/// What a node was told whose journal has come to `at`.
[[nodiscard]] Told told_by(const DaemonParts& host, const Outlived& outlived, std::uint64_t at);
/// A peer has told `node` that its state is an old copy: notes it for the lives to come. `invalid`,
/// with the sentence about it.
[[nodiscard]] Status note_outlived(const DaemonParts& host, const Node& node, Incarnation life,
                                   std::uint64_t written);
/// Says why it could not be opened; the exit status.
int daemon_failed(const Error& error);

/// What is done between cycles.
struct Housekeeping {
  std::uint64_t inherited = 0;  ///< records that earlier lives left in the journal
  /// One step of replacing a journal that has grown much; false once that is done.
  std::function<Result<bool>()> compact;
  std::function<std::uint64_t()> bytes;  ///< in the journal
  /// Every heartbeat, and while nothing may be said; an error ends it.
  std::function<Status()> keep;
  std::function<void()> pulse;  ///< every few seconds
  /// When the right to speak ends (Node::may_speak_until); asked before every cycle. Not set:
  /// never.
  std::function<Instant()> may_speak_until;
};
/// Runs `node` until a stop is requested. Else why not: the journal, or what `keep` said.
[[nodiscard]] Status serve(Node& node, const ScaledClock& clock, Housekeeping house);

/// For a daemon to end once it is told to. Calls of etcd have deadlines of 4 s at most, a journal's
/// write has none, and jobs get seconds.
inline constexpr unsigned kEndsWithin_s = 30;

/// As many open files as the system lets us have: every peer costs two.
void raise_file_limit();

}  // namespace starling
