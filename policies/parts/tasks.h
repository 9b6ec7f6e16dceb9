// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace starling {

/// How many tasks of both kinds a job runs as that trains by parameter servers.
struct TaskCounts {
  std::uint32_t workers = 0, servers = 0;
  friend bool operator==(const TaskCounts&, const TaskCounts&) = default;
};

}  // namespace starling
