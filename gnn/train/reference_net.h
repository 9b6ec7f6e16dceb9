// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nets/weights.h"

namespace starling {

/// The same answer as Mlp::run, by libtorch: what nets/ is held to. The weights must make a valid
/// Mlp.
[[nodiscard]] std::vector<float> reference_forward(const Weights& weights,
                                                   std::span<const float> in, std::size_t rows,
                                                   const std::string& prefix = "");

}  // namespace starling
