// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/search/world.h"

namespace starling::search {

struct ExploreOptions {
  std::uint32_t depth = 6;        ///< steps away from where a search begins
  bool along_fair_run = true;     ///< begin at every state of the fair run, not only at its first
  std::uint32_t fair_every = 16;  ///< from one new state in so many the fair run must end; 0: none
  std::uint64_t states = 0;       ///< give up beyond that many; 0: never
};

struct SearchReport {
  std::uint64_t begins = 0;       ///< states that a search began from
  std::uint64_t states = 0;       ///< different ones
  std::uint64_t transitions = 0;  ///< steps taken and checked
  std::uint64_t fair_runs = 0;    ///< ended as they must
  bool complete = true;           ///< all orders to the depth were seen
  std::optional<std::string> violation;
  std::vector<std::string> path;  ///< to it, a step each
};

/// Everything that can happen within `depth` steps, breadth first, so that what it finds is a
/// shortest way. Stops at the first violation.
[[nodiscard]] SearchReport explore(const Setting& setting, const ExploreOptions& options);

}  // namespace starling::search
