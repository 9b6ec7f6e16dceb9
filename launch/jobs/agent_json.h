// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agents/message.h"

namespace starling {

/// What an agent says of itself that means the same wherever it is shown, as an object: all of
/// AgentStatus but its host, its troubles, and the servers that are drained, which callers name.
[[nodiscard]] nlohmann::json agent_json(const AgentStatus& agent);

}  // namespace starling
