// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace starling {

/// Of /proc/PID/stat.
struct ProcessStat {
  char state = 'X';  ///< 'Z': dead, and waits to be collected; 'X': there is no such process
  pid_t parent = 0;
  std::uint64_t start = 0;  ///< in ticks since the machine's boot
};

/// Nothing: it cannot be told.
[[nodiscard]] std::optional<ProcessStat> process_stat(pid_t pid);

}  // namespace starling
