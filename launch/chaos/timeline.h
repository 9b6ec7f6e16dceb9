// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "launch/chaos/live.h"

namespace starling::chaos_live {

/// What happened in a run, in order of time: faults as they begin and end, what was wrong, and
/// every line that agents and executors logged, each with its second since the start. Lines of a
/// daemon whose wall clock was set are where that clock puts them.
[[nodiscard]] std::string timeline(const LiveReport& report);

}  // namespace starling::chaos_live
