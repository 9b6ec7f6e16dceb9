// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/world/world.h"

namespace starling {

// Of a world in which everything has been healed. Each answers with the first thing that is not as
// it should be, in words; empty: all is well.

/// L3: what should not be there when every job is over.
[[nodiscard]] std::string left_over(World& world);
/// L2 and L4, in a world that has been quiet for a while: a partition has one owner and all agree
/// on its epoch, digests say what is, no agent is silent.
[[nodiscard]] std::string disagreement(World& world);
/// The jobs that have not ended, and what the agents know of them.
[[nodiscard]] std::string unfinished(World& world);

}  // namespace starling
