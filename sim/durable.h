#pragma once

#include <optional>
#include <string>

#include "agents/executor_state.h"
#include "agents/state.h"

namespace starling {

/// What `live` holds that must outlast a crash, against what its journal gives back; the first
/// difference in words, or nothing.
[[nodiscard]] std::optional<std::string> durable_difference(const AgentState& live,
                                                            const AgentState& replayed);
[[nodiscard]] std::optional<std::string> durable_difference(const ExecutorState& live,
                                                            const ExecutorState& replayed);

}  // namespace starling
