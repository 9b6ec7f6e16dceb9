// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/message.h"

namespace starling {

/// Whether `state.exit.code` is that of a process which has ended. A job that waits, runs or was
/// cancelled has none; nor has one that failed otherwise than by its own end (given up, or lost).
[[nodiscard]] inline bool has_exit_code(const JobState& state) {
  return state.phase == JobPhase::finished ||
         (state.phase == JobPhase::failed && state.exit.code != 0);
}

}  // namespace starling
