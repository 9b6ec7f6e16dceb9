// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "nets/weights.h"

namespace starling {

/// Those that the program carries: the bytes of gnn/SYSTEM/weights/NAME.weights. `not_found`.
[[nodiscard]] Result<Weights> shipped_weights(std::string_view name);

}  // namespace starling
