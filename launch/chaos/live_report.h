// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/chaos/live.h"

namespace starling::chaos_live {

/// What happened, as tables: faults by kind, jobs, times of recovery, and what was wrong with the
/// faults around it.
[[nodiscard]] std::string report_text(const LiveReport& report);
[[nodiscard]] std::string report_json(const LiveReport& report);
/// One self-contained page: faults, takeovers and jobs on one line of time.
[[nodiscard]] std::string report_page(const LiveReport& report);

}  // namespace starling::chaos_live
