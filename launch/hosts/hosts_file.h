// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/remote/host.h"
#include "topology/topology.h"

namespace starling {

/// A hosts file (docs/hosts.md): YAML, one mapping with `hosts` and perhaps `defaults`.
/// `flock_name` is that of directories that are not given. `invalid` with one line per mistake:
/// "file:line:column: what is wrong; what would be right".
[[nodiscard]] Result<HostSet> load_hosts(const std::filesystem::path& file,
                                         const Topology& topology, const std::string& flock_name);
[[nodiscard]] Result<HostSet> parse_hosts(const std::string& text,
                                          const std::filesystem::path& file,
                                          const Topology& topology, const std::string& flock_name);

/// Its hosts alone, to find out which servers they are: what they say of servers is not looked at.
[[nodiscard]] Result<HostSet> load_host_list(const std::filesystem::path& file);

/// Servers in consecutive blocks, as even as can be.
[[nodiscard]] std::vector<std::uint32_t> spread_servers(std::uint32_t servers, std::size_t hosts);

/// One agent for each host, or as many as it says; never more than servers with GPUs.
[[nodiscard]] std::uint32_t default_agents(const HostSet& set, const Topology& topology);

/// The host of each of `agents` agents: as many as a host says, the rest even over those that say
/// nothing, each where most GPUs of its partition are. `invalid` if the numbers do not fit.
[[nodiscard]] Result<std::vector<std::uint32_t>> place_agents(const HostSet& set,
                                                              const Topology& topology,
                                                              std::uint32_t agents);

}  // namespace starling
