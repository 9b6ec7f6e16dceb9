// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nets/weights.h"

namespace starling {

/// One dense layer for vectors that come one at a time: y = W x + b, or relu of it. Tensors: prefix
/// +
/// ".weight" [out, in] and prefix + ".bias" [out]. Const calls allocate nothing and may run side by
/// side; the same input gives the same bits.
class Dense {
 public:
  /// `not_found` or `invalid` names the tensor that is missing or of another shape.
  [[nodiscard]] static Result<Dense> make(const Weights& weights, const std::string& prefix,
                                          std::uint32_t in, std::uint32_t out);
  [[nodiscard]] std::size_t inputs() const noexcept { return in_; }
  [[nodiscard]] std::size_t outputs() const noexcept { return bias_.size(); }
  /// `x`: inputs() values, `y`: outputs() values, apart from one another.
  void run(std::span<const float> x, std::span<float> y) const;
  void relu(std::span<const float> x, std::span<float> y) const;

 private:
  std::size_t in_ = 0;
  std::vector<float> columns_;  // [in, out]: W turned, so that the inner loop has no sum to carry
  std::vector<float> bias_;
};

}  // namespace starling
