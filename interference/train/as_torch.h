// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nets/weights.h"

namespace at {
class Tensor;
}

namespace starling {

/// A copy of our numbers as libtorch has them, in rows of the last size.
[[nodiscard]] at::Tensor as_torch(std::span<const float> values,
                                  const std::vector<std::int64_t>& shape);
[[nodiscard]] at::Tensor as_torch(const Tensor& tensor);

}  // namespace starling
