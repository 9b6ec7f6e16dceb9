// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "workload/traces/trace.h"

namespace starling {

/// The text that write_trace writes.
[[nodiscard]] std::string trace_csv(const Trace& trace);

}  // namespace starling
