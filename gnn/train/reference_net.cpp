// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/reference_net.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "interference/train/as_torch.h"

namespace starling {

std::vector<float> reference_forward(const Weights& weights, std::span<const float> in,
                                     std::size_t rows, const std::string& prefix) {
  const c10::InferenceMode guard;
  const auto find = [&](const std::string& name) { return weights.tensors.find(prefix + name); };
  const auto n = static_cast<std::int64_t>(rows);
  at::Tensor x = as_torch(in, {n, static_cast<std::int64_t>(in.size() / rows)});
  if (find("input.mean") != weights.tensors.end()) {
    x = (x - as_torch(find("input.mean")->second)) * as_torch(find("input.scale")->second);
  }
  const bool tanh = weights.note(prefix + "activation", "relu") == "tanh";
  for (int i = 0; find(std::to_string(i) + ".weight") != weights.tensors.end(); ++i) {
    if (i > 0) x = tanh ? at::tanh(x) : at::relu(x);
    x = at::linear(x, as_torch(find(std::to_string(i) + ".weight")->second),
                   as_torch(find(std::to_string(i) + ".bias")->second));
  }
  x = x.contiguous();
  return {x.data_ptr<float>(), x.data_ptr<float>() + x.numel()};
}

}  // namespace starling
