// SPDX-License-Identifier: Apache-2.0
#include "interference/train/as_torch.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace starling {

at::Tensor as_torch(std::span<const float> values, const std::vector<std::int64_t>& shape) {
  at::Tensor out = at::empty(shape, at::kFloat);
  std::copy(values.begin(), values.end(), out.data_ptr<float>());
  return out;
}

at::Tensor as_torch(const Tensor& tensor) {
  return as_torch(tensor.values, {tensor.shape.begin(), tensor.shape.end()});
}

}  // namespace starling
