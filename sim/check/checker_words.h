// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agents/config.h"
#include "agents/message.h"

namespace starling {

// What the checker's sentences are made of.

inline std::string node_text(NodeId node) {
  if (node.value >= kFirstClient) return "client " + std::to_string(node.value - kFirstClient);
  if (node.value >= kFirstExecutor)
    return "executor " + std::to_string(node.value - kFirstExecutor);
  if (node.value > 0) return "agent " + std::to_string(node.value - 1);
  return "hardware";
}

inline std::size_t gpus_of(const std::vector<Share>& gang) {
  std::size_t count = 0;
  for (const Share& share : gang) count += share.gpus.size();
  return count;
}

inline std::string gpu_text(GpuId gpu) { return "GPU " + std::to_string(gpu.value); }

}  // namespace starling
