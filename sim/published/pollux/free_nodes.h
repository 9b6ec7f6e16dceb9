// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/published/pollux/job.h"

namespace starling {

/// Free GPUs of each node, as Tiresias and Optimus take them there: from the node with most, of
/// equal ones the lowest, as many as it has, again and again.
class FreeNodes {
 public:
  FreeNodes(std::uint32_t nodes, std::uint32_t gpus_per_node) : free_(nodes, gpus_per_node) {}

  void take(const NodeList& nodes);
  /// At least so many must be free.
  [[nodiscard]] NodeList take_most_free(std::uint32_t gpus);

 private:
  std::vector<std::uint32_t> free_;
};

}  // namespace starling
