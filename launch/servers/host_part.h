// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace starling {

// What one host does when a flock on hosts gets other servers (launch/hosts/host_servers.h says
// what asks for it, and when). The coming description of the flock, as deployment.json, is told;
// the files that it names are in the directory already.

/// "3 running": the generation of servers in the flock's directory `dir` on this host, and whether
/// a keeper runs there, or "3 stopped".
[[nodiscard]] Result<std::string> host_generation(const std::filesystem::path& dir);

/// Whether this host can go over to the servers of `coming`. Changes nothing. As try_servers(), and
/// `conflict` while its keeper runs.
[[nodiscard]] Status try_host_servers(const std::filesystem::path& dir, const std::string& host,
                                      const std::string& coming);

/// They are the flock's servers: durable, all at once. Done also where they are already, or newer
/// ones. `conflict` while the keeper runs.
[[nodiscard]] Status take_host_servers(const std::filesystem::path& dir, const std::string& host,
                                       const std::string& coming);

}  // namespace starling
