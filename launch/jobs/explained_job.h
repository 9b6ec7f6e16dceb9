// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "launch/jobs/flock_view.h"

namespace starling {

/// What its home says of a job, then what the other agents say that have GPUs of it, or that they
/// do not answer. Nothing: the home does not answer. `flock` is connected.
[[nodiscard]] std::optional<std::vector<std::string>> explained_job(FlockView& flock,
                                                                    const JobState& job);

}  // namespace starling
