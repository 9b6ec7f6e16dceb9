// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bus/wire/node.h"

namespace starling {

/// Everything a node's core knows but counters and times of the last step. A frame that is refused
/// leaves it as it was.
[[nodiscard]] std::uint64_t hash_of(const Node& node);
/// Frames that this node has refused so far, for whatever reason.
[[nodiscard]] std::uint64_t refusals(const Node& node);

}  // namespace starling
