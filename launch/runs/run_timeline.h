// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sim/run/run_result.h"

namespace starling {

/// GPUs in use and jobs waiting over time, from the rows of a finished run: a job waits from
/// submission to its first start and uses the GPUs that it was placed on last from then to its end.
/// A GPU that two share is one. At most 10,000 points.
[[nodiscard]] std::vector<TimePoint> timeline_of(std::span<const JobRow> jobs);

}  // namespace starling
