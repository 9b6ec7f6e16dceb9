// SPDX-License-Identifier: Apache-2.0
#include "sim/published/pollux/free_nodes.h"

#include <algorithm>

#include "base/check.h"

namespace starling {

void FreeNodes::take(const NodeList& nodes) {
  for (const std::uint32_t node : nodes) {
    STARLING_CHECK(free_[node] > 0);
    --free_[node];
  }
}

NodeList FreeNodes::take_most_free(std::uint32_t gpus) {
  NodeList nodes;
  while (nodes.size() < gpus) {
    const auto most = std::max_element(free_.begin(), free_.end());
    STARLING_CHECK(*most > 0);
    const auto node = static_cast<std::uint32_t>(most - free_.begin());
    const auto more = std::min(*most, gpus - static_cast<std::uint32_t>(nodes.size()));
    nodes.insert(nodes.end(), more, node);
    *most -= more;
  }
  return nodes;
}

}  // namespace starling
