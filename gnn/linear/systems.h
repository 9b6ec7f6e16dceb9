// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "gnn/learned_system.h"

namespace starling {

/// linear (gnn/linear/linear.h); no weights are shipped.
[[nodiscard]] std::vector<LearnedSystem> linear_systems();

}  // namespace starling
