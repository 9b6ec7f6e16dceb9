// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/explain_ended.h"

#include <utility>

#include "agents/exit_code.h"
#include "agents/explain/explain_silence.h"
#include "base/counted.h"

namespace starling {

std::vector<std::string> explain_ended(const JobState& over) {
  std::string line = std::string(state_name(over)) + " after " + seconds_text(over.elapsed);
  if (over.requeued > Duration{0})
    line += ", after waiting for " + seconds_text(over.queued + over.requeued) + " in all";
  if (over.reason == JobReason::dependency_never) {
    line += ", never run: " + over.exit.log_tail;
  } else if (over.exit.timed_out) {
    line += ", stopped at its time limit";
  } else if (has_exit_code(over)) {
    line += ", exit code " + std::to_string(over.exit.code);
  } else if (over.phase == JobPhase::failed) {
    line += ", without an exit code of its own";
  }
  if (over.failures > 0)
    line += "; " + counted(over.failures, "attempt", "attempts") + " before that failed, too";
  return {std::move(line)};
}

}  // namespace starling
