// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/state_dir.h"
#include "launch/hosts/host_flock.h"
#include "launch/remote/remote.h"
#include "launch/servers/new_servers.h"
#include "topology/topology.h"

namespace starling {

// How a flock on hosts goes over to other servers, so that, whatever is killed at any
// time leaves all of it with the old servers or all of it with the new ones:
//   1. All that is new is copied to every host, beside the old. Nothing reads it.
//   2. The directory where the flock was made notes that its hosts are stopped for a while. Every
//      host's keeper ends its daemons and itself, but not the jobs.
//   3. Every host looks whether its journals can be said in the new numbers.
//   4. All can: the new description is renamed to deployment.json, in the directory where the flock
//      was made. This is the decision, for all hosts.
//   5. Every keeper is started by start_keeper(), which gives its host the description that was
//      decided before. Then the note goes.
// A host that is not there for 2 or 3 means no. One that is lost after that is stopped, and learns
// what was decided when its keeper is started; nothing else starts one. Where the note stands and
// no command works on it, 5 is what is left to do.

/// The lock under which keepers of the flock in `dir` are stopped and started. One that needs it
/// for a moment is waited for.
[[nodiscard]] Result<StateDir> restart_lock(const std::filesystem::path& dir);

/// Starts the keeper of a host that does not run, with the servers that the flock has as its
/// directory says. What the host answers: "started" or "running". The caller has the flock's
/// restart lock.
[[nodiscard]] Result<std::string> start_keeper(const HostFlock& flock, const Remote& remote,
                                               const Host& host);

/// Hosts were stopped by a command that is gone, or could not all be started again.
[[nodiscard]] bool hosts_are_stopped(const std::filesystem::path& dir);
[[nodiscard]] Status forget_stopped_hosts(const std::filesystem::path& dir);
/// Starts the keepers of all hosts, as above, and forgets that. One line for each that did not
/// start; then it is not forgotten.
[[nodiscard]] Status start_stopped_hosts(const HostFlock& flock, const Remote& remote);

/// Whether a keeper runs on any host. `io` names those that cannot be asked, or whose program knows
/// nothing of this.
[[nodiscard]] Result<bool> any_keeper_runs(const HostFlock& flock, const Remote& remote);

/// All of it, one try. `runs`: keepers are started after it. Errors: nothing has changed, and
/// `busy`: something uses a server that leaves or changes; but with `not_ready` the servers are
/// changed, and some hosts could not be told yet.
[[nodiscard]] Status go_over_on_hosts(HostFlock& flock, Remote& remote, const Deployment& before,
                                      const NewServers& servers, const Topology& after, bool runs);

/// Gives every host that is stopped the servers that the flock has. One line for each that could
/// not be told.
[[nodiscard]] Status tell_stopped_hosts(const HostFlock& flock, const Remote& remote);

}  // namespace starling
