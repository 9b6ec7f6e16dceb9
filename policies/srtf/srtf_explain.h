// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "policies/srtf/srtf_rule.h"

namespace starling {

/// Of a job that waits: whom srtf would stop for it, or why none. Of one that runs: for whom it
/// would be stopped. `stopping`: were told to stop, and still run.
[[nodiscard]] std::vector<std::string> explain_srtf(const SrtfRule& rule, const View& view,
                                                    const JobView& job,
                                                    const std::set<JobId>& stopping);

}  // namespace starling
