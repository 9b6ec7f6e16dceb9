// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/step/state.h"

namespace starling {

/// Of a job that waits for something else than GPUs: what that is, and what is known of it.
[[nodiscard]] std::vector<std::string> explain_back(const AgentState& s, const Job& job);

}  // namespace starling
