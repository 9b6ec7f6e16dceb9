// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/tensors.h"

#include <algorithm>

namespace starling {

torch::Tensor tensor_of(std::span<const float> values, const std::vector<std::int64_t>& shape) {
  torch::Tensor out = torch::empty(shape);
  std::ranges::copy(values, out.data_ptr<float>());
  return out;
}

torch::Tensor indices_of(const std::vector<std::int64_t>& values) {
  torch::Tensor out = torch::empty({static_cast<std::int64_t>(values.size())}, torch::kLong);
  std::ranges::copy(values, out.data_ptr<std::int64_t>());
  return out;
}

torch::Tensor padded(const std::vector<std::span<const float>>& decisions, std::int64_t options,
                     std::int64_t width) {
  torch::Tensor out = torch::zeros({static_cast<std::int64_t>(decisions.size()), options, width});
  float* to = out.data_ptr<float>();
  for (const std::span<const float> rows : decisions) {
    std::ranges::copy(rows, to);
    to += options * width;
  }
  return out;
}

}  // namespace starling
