// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/step/state.h"

namespace starling {

/// Of a job that waits: which jobs pass it by, and when its turn comes at the latest, for people.
[[nodiscard]] std::vector<std::string> explain_turn(const AgentState& s, const Job& job,
                                                    Instant now);

}  // namespace starling
