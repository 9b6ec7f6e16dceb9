// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

struct AgentState;
struct ExecutorState;

// S11, counted by the checker itself: whatever in a core's memory can grow, against the limit that
// has a name. The first that is above its own, in words; empty: none.

[[nodiscard]] std::string outgrown(const AgentState& state);
[[nodiscard]] std::string outgrown(const ExecutorState& state);

}  // namespace starling
