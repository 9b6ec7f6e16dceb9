// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/deployment/deployment.h"

namespace starling {

/// Called when a daemon or host is itself again, after so many seconds.
using Restarted = std::function<void(const std::string& name, double took_s)>;

/// A line of it on stdout.
void print_restarted(const std::string& name, double took_s);

/// Whether an `up` on this machine keeps the flock in `dir`.
[[nodiscard]] bool is_kept(const std::filesystem::path& dir);

/// Whether all agents answer and every GPU is known, within a minute.
[[nodiscard]] Status flock_is_well(const Deployment& flock);

/// Ends the named daemons of a flock on this machine, one after the other; jobs go on, the keeper
/// of the flock starts each again, and the next has its turn once the flock is well.
/// `not_ready`: which is not, or that no process keeps the flock.
[[nodiscard]] Status restart_here(const Deployment& flock, const std::vector<std::string>& names,
                                  const Restarted& tell);
/// The same on its hosts, all daemons of a host at once, with this program. Empty: all hosts.
[[nodiscard]] Status restart_hosts(const Deployment& flock, const std::vector<std::string>& names,
                                   std::uint16_t protocol, const Restarted& tell);

}  // namespace starling
