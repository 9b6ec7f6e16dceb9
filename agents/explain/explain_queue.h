// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agents/step/state.h"

namespace starling {

// Who goes before a job that waits, a line each, for people; empty: no job.

/// ", priority N" where some job that waits here has one; else empty.
[[nodiscard]] std::string explain_priority(AgentState& s, const Job& job);
/// Those that the policy asks before it.
[[nodiscard]] std::string explain_ahead(AgentState& s, const Job& job);
/// The one for whose turn this partition starts nothing new, and for how long still.
[[nodiscard]] std::string explain_claim(const AgentState& s, JobId id);

}  // namespace starling
