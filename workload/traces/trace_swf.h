// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// Is this text in the Standard Workload Format? Told from its first line that is not blank: a
/// comment (";"), or 18 numbers.
[[nodiscard]] bool looks_like_swf(std::string_view text);

/// Reads the Standard Workload Format of the Parallel Workloads Archive into trace.jobs and
/// trace.dropped, in the order of the file: processors are GPUs (allocated, or where that is
/// missing requested), the run time is the duration. Jobs without processors or run time are
/// dropped. Users and queues keep their numbers. `invalid` names file:line.
[[nodiscard]] Status read_swf(std::string_view text, const std::string& file, Trace& trace);

}  // namespace starling
