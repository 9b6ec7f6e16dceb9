// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agents/message.h"

namespace starling {

/// How a job ended, for people: what an Explanation of it says.
[[nodiscard]] std::vector<std::string> explain_ended(const JobState& over);

}  // namespace starling
