// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "launch/daemon/daemon.h"

namespace starling {

/// A partition that this process may serve, and as which of its agent's seats (bus/flock.h).
struct HostedSeat {
  PartitionId partition;
  std::uint32_t seat = 0;  ///< 0: it is this process's own
  std::filesystem::path keys;
};
/// All of `host`'s, its own first.
[[nodiscard]] Result<std::vector<HostedSeat>> seats_of(const DaemonParts& host);

/// Serves `partition` from its recovered journal until a stop is requested, and releases it.
/// Errors, after which nothing of this life has any effect: `fenced`, another agent owns it; `io`,
/// its journal; `busy`, `wanted` was set; `expired`, its executors are out of reach from here
/// alone; `not_ready`, no node can be heard at this seat for now; `invalid`, the configuration.
/// After these but the first two it is released. Shares with other threads only what nothing
/// changes.
[[nodiscard]] Status live(const DaemonParts& host, const HostedSeat& seat,
                          PartitionState& partition, const std::atomic<bool>& wanted);

}  // namespace starling
