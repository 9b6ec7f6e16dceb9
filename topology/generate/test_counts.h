// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "topology/topology.h"

namespace starling::testing {

[[nodiscard]] inline std::size_t count(const Topology& t, Level level) {
  return static_cast<std::size_t>(
      std::count_if(t.subtrees().begin(), t.subtrees().end(),
                    [level](const Subtree& tree) { return tree.level == level; }));
}
[[nodiscard]] inline std::size_t switches(const Topology& t) {
  return t.network_nodes().size() - t.server_count();
}

}  // namespace starling::testing
