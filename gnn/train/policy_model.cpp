// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/policy_model.h"

#include <torch/nn/functional/activation.h>

#include <algorithm>

#include "gnn/train/tensors.h"

namespace starling {

PolicyModel::PolicyModel(const Weights& weights) : notes_(weights.notes) {
  for (const auto& [name, tensor] : weights.tensors) {
    torch::Tensor value = tensor_of(tensor.values, {tensor.shape.begin(), tensor.shape.end()});
    value.set_requires_grad(true);
    tensors_[name] = value;
  }
}

Weights PolicyModel::weights() const {
  Weights out;
  for (const auto& [name, tensor] : tensors_) {
    const torch::Tensor values = tensor.detach().contiguous();
    Tensor& to = out.tensors[name];
    for (const Index size : values.sizes()) to.shape.push_back(static_cast<std::uint32_t>(size));
    to.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  }
  out.notes = notes_;
  return out;
}

std::vector<torch::Tensor> PolicyModel::parameters() const {
  std::vector<torch::Tensor> out;
  for (const auto& [name, tensor] : tensors_) out.push_back(tensor);
  return out;
}

torch::Tensor PolicyModel::scores(const SeenDecisions& seen,
                                  std::span<const std::uint32_t> which) const {
  std::vector<const Observation*> observations;
  Index options = 0;
  for (const std::uint32_t i : which) {
    observations.push_back(seen.all[i].observation.get());
    options = std::max(options, static_cast<Index>(seen.all[i].options));
  }
  torch::Tensor mask = torch::zeros({static_cast<Index>(which.size()), options});
  for (std::size_t d = 0; d < which.size(); ++d) {
    float* const row = mask.data_ptr<float>() + static_cast<Index>(d) * options;
    std::fill_n(row, seen.all[which[d]].options, 1.0F);
  }
  return score(observations, options).masked_fill(mask == 0, -1e9);
}

torch::Tensor PolicyModel::linear(const std::string& name, const torch::Tensor& x) const {
  return torch::linear(x, tensor(name + ".weight"), tensor(name + ".bias"));
}

torch::Tensor PolicyModel::layer(const std::string& name, const torch::Tensor& x) const {
  return torch::relu(linear(name, x));
}

}  // namespace starling
