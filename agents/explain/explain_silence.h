// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/step/state.h"

namespace starling {

/// Whole seconds, as explanations have them.
[[nodiscard]] std::string seconds_text(Duration d);

/// Who has something of the job's attempt and is not heard: executors of this agent with a part of
/// it, and, at its home, owners of other parts. A line each, with when it was last heard of and
/// what others say; empty where all of them answer.
[[nodiscard]] std::vector<std::string> explain_silence(const AgentState& s, JobId job, Instant now);

/// At an agent that is not its home: which of its GPUs the job has. Empty: none.
[[nodiscard]] std::string explain_held(const AgentState& s, JobId job);

}  // namespace starling
