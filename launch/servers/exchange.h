// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/deployment_plan.h"
#include "launch/servers/new_servers.h"
#include "topology/topology.h"

namespace starling {

// How a flock of one machine goes over to other servers, so that whatever is killed at any time
// leaves the old flock or the new one:
//   1. prepare_servers(): all that is new stands beside the old; nothing reads it.
//   2. ask_for_servers(): the file deployment.next.json. The keeper of the flock finds it, now or
//      at its next start, and ends all daemons, but not the jobs.
//   3. take_servers(), while no daemon runs: looks whether every journal can be said in the new
//      numbers, and renames that file to deployment.json. This is the change.
//   4. Each daemon finds at its start that its journal speaks in old numbers (own_numbers.h).
//   5. tidy_servers(): a node that is not of the flock any more is let in no longer.
// A flock on hosts has 1, 4 and 5 in common with it: launch/hosts/host_servers.h.

/// New executors listen where `addresses` says; their secret keys are in their folders.
[[nodiscard]] Status prepare_servers(const Deployment& before, const NewServers& servers,
                                     const Topology& after,
                                     const AddressSource& addresses = loopback_addresses);
[[nodiscard]] Status ask_for_servers(const Deployment& next);
[[nodiscard]] bool servers_are_asked_for(const std::filesystem::path& dir);
/// False: it has been taken, or there was no such request.
[[nodiscard]] bool withdraw_servers(const std::filesystem::path& dir);

/// Only for the process with the place of the flock's keeper, while no daemon runs. An error, which
/// is also kept for why_servers_were_refused(): nothing has changed and the request is gone.
/// `busy`: something uses a server that leaves or changes.
[[nodiscard]] Status take_servers(const std::filesystem::path& dir);
/// The error of the last request, done() where there was none.
[[nodiscard]] Status why_servers_were_refused(const std::filesystem::path& dir);

[[nodiscard]] Status tidy_servers(const Deployment& now);

}  // namespace starling
