// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "topology/placement.h"

namespace starling {

/// "0-3,6": GPUs in the order of the placement, neighbours as ranges. Empty for none.
[[nodiscard]] std::string placement_text(const Placement& gpus);

}  // namespace starling
