// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gnn/train/decisions.h"
#include "nets/weights.h"

namespace starling {

/// The net of a learned system once more, in libtorch: what training changes, and what the agents'
/// net is held to. A system derives from it and says what its tensors make of what it observed. One
/// thread; same input, same output.
class PolicyModel {
 public:
  virtual ~PolicyModel() = default;
  /// Of the seen decisions `which`, all of one partition: [decisions, options], the options of each
  /// padded to the same number; very low where there is no option.
  [[nodiscard]] torch::Tensor scores(const SeenDecisions& seen,
                                     std::span<const std::uint32_t> which) const;
  /// All tensors of the weights, by name.
  [[nodiscard]] std::vector<torch::Tensor> parameters() const;
  [[nodiscard]] Weights weights() const;

 protected:
  using Index = std::int64_t;
  /// They make a net: the system has looked.
  explicit PolicyModel(const Weights& weights);
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }
  [[nodiscard]] const torch::Tensor& tensor(const std::string& name) const {
    return tensors_.at(name);
  }
  /// relu of weight and bias NAME.weight, NAME.bias.
  [[nodiscard]] torch::Tensor layer(const std::string& name, const torch::Tensor& x) const;
  /// The same without relu.
  [[nodiscard]] torch::Tensor linear(const std::string& name, const torch::Tensor& x) const;

 private:
  /// [observations, options], finite; `options`: of the one that has most. What is beyond an
  /// observation's own options counts for nothing.
  [[nodiscard]] virtual torch::Tensor score(std::span<const Observation* const> observations,
                                            Index options) const = 0;

  std::map<std::string, torch::Tensor> tensors_;
  std::map<std::string, std::string> notes_;
};

}  // namespace starling
