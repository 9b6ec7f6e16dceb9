// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/published/openb/openb_inputs.h"

namespace starling {

/// The allocation curve of one published run, placed again by our policy of that name.
[[nodiscard]] std::vector<double> run_openb(const ClusterSpec& cluster, const OpenbList& list,
                                            const OpenbDraw& draw, const std::string& policy);

/// How many points lie within half a hundredth of the published one: means that end in a 5 were
/// rounded either way.
[[nodiscard]] std::size_t equal_points(const std::vector<double>& ours,
                                       const std::vector<double>& published);

}  // namespace starling
