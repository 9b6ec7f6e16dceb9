// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// For tests of importers: whether the reading failed with a message that has `part` in it.
inline bool says(const Result<Topology>& read, const std::string& part) {
  if (read.ok()) return false;
  CAPTURE(read.error().message);
  const bool found = read.error().message.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

/// Pods, racks or domains.
inline std::size_t count(const Topology& t, Level level) {
  return static_cast<std::size_t>(
      std::count_if(t.subtrees().begin(), t.subtrees().end(),
                    [level](const Subtree& tree) { return tree.level == level; }));
}

}  // namespace starling
