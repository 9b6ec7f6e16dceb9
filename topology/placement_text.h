// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "topology/placement.h"
#include "topology/topology.h"

namespace starling {

/// "0-3,6": GPUs in the order of the placement, neighbours as ranges. Empty for none.
[[nodiscard]] std::string placement_text(const Placement& gpus);
/// What placement_text() wrote, as ranges of GPUs; what is no number ends it.
[[nodiscard]] std::vector<IndexRange> gpu_ranges(const std::string& text);

}  // namespace starling
