// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace starling {

/// Copies of what is given, row-major.
[[nodiscard]] torch::Tensor tensor_of(std::span<const float> values,
                                      const std::vector<std::int64_t>& shape);
[[nodiscard]] torch::Tensor indices_of(const std::vector<std::int64_t>& values);
/// [decisions, options, width]: of each decision its rows, [its options, width], and zeros behind
/// them.
[[nodiscard]] torch::Tensor padded(const std::vector<std::span<const float>>& decisions,
                                   std::int64_t options, std::int64_t width);

}  // namespace starling
