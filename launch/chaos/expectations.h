// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/chaos/live.h"

namespace starling::chaos_live {

/// Writes into `report` the jobs started a second in the 15 s before the first takeover's fault,
/// and in the last 15 of the 30 s after it was over. `starts`: when jobs started.
void measure_throughput(LiveReport& report, const std::vector<double>& starts);

/// What a scenario expected of the run that did not come true, a sentence each.
[[nodiscard]] std::vector<std::string> unmet(const Expectations& expected,
                                             const LiveReport& report);

}  // namespace starling::chaos_live
