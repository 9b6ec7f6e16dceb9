// SPDX-License-Identifier: Apache-2.0
#include "nets/dense.h"

#include <algorithm>

#include "base/check.h"

namespace starling {

Result<Dense> Dense::make(const Weights& weights, const std::string& prefix, std::uint32_t in,
                          std::uint32_t out) {
  const std::uint32_t shape[] = {out, in};
  const auto weight = weights.tensor(prefix + ".weight", shape);
  if (!weight) return weight.error();
  const auto bias = weights.tensor(prefix + ".bias", std::span(&out, 1));
  if (!bias) return bias.error();
  Dense dense;
  dense.in_ = in;
  dense.bias_ = bias.value()->values;
  dense.columns_.resize(std::size_t{in} * out);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i)
      dense.columns_[i * out + o] = weight.value()->values[o * in + i];
  }
  return dense;
}

void Dense::run(std::span<const float> x, std::span<float> y) const {
  STARLING_CHECK(x.size() == in_ && y.size() == bias_.size());
  std::copy(bias_.begin(), bias_.end(), y.begin());
  const std::size_t out = bias_.size();
  for (std::size_t i = 0; i < in_; ++i) {
    const float value = x[i];
    if (value == 0) continue;  // half of all relu outputs
    const float* const column = columns_.data() + i * out;
    for (std::size_t o = 0; o < out; ++o) y[o] += value * column[o];
  }
}

void Dense::relu(std::span<const float> x, std::span<float> y) const {
  run(x, y);
  for (float& value : y) value = std::max(value, 0.0F);
}

}  // namespace starling
