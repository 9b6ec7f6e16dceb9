// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agents/message.h"

namespace starling {

// Words for transcripts.
[[nodiscard]] std::string node_text(NodeId node);
[[nodiscard]] std::string gpus_text(const Placement& gpus);
[[nodiscard]] std::string attempt_text(const AttemptId& attempt);

}  // namespace starling
