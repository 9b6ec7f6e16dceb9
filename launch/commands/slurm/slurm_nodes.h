// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/client/flock_client.h"

namespace starling {

/// A server in Slurm's words.
struct SlurmNode {
  std::string name, state, shortly;  ///< "mixed", "mix"
  std::string gpu_type;
  std::uint32_t gpus = 0, used = 0;
  double cpus = 0, memory_gib = 0;
  bool drained = false;
};

/// All of them, in the topology's order; an error is said, and so are agents that are silent, whose
/// servers are "unknown".
[[nodiscard]] std::optional<std::vector<SlurmNode>> slurm_nodes(const char* command,
                                                                FlockClient& flock);

}  // namespace starling
