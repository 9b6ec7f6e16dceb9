// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace starling {

/// The options of `starling configure` that are about the servers.
struct ServersOptions {
  std::string topology;
  std::uint32_t servers_per_executor = 0;  ///< 0: as many as the executor with most has
  bool dry_run = false, evict = false;
  std::string hosts;           ///< a hosts file, of a flock on hosts
  double drain_timeout_s = 0;  ///< 0: as long as it takes
};

/// Gives the flock in `dir` the servers of another topology, whether it is up or not. Begun anew
/// wherever an earlier one was interrupted. The exit status.
int configure_servers(const std::filesystem::path& dir, const ServersOptions& options);

}  // namespace starling
