// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/pair_intervals.h"

namespace starling {

double PairIntervals::half(const PairGuess& guess, std::size_t set, bool all_known) const {
  const Scale& scale = (all_known ? known : unknown)[set];
  return scale.width * (scale.floor + guess.sd);
}

void PairIntervals::save(const std::string& prefix, Weights& weights) const {
  Tensor out{{static_cast<std::uint32_t>(known.size()), 2, 2}, {}};
  for (std::size_t s = 0; s < known.size(); ++s) {
    for (const Scale& scale : {known[s], unknown[s]}) {
      out.values.push_back(static_cast<float>(scale.floor));
      out.values.push_back(static_cast<float>(scale.width));
    }
  }
  weights.tensors[prefix + "interval"] = std::move(out);
}

Result<PairIntervals> PairIntervals::load(const Weights& weights, const std::string& prefix) {
  const std::uint32_t shape[] = {0, 2, 2};
  const auto tensor = weights.tensor(prefix + "interval", shape);
  if (!tensor) return tensor.error();
  const std::vector<float>& v = tensor.value()->values;
  PairIntervals out;
  for (std::size_t s = 0; s < tensor.value()->shape[0]; ++s) {
    const auto scale = [&](std::size_t at) {
      return Scale{static_cast<double>(v[at]), static_cast<double>(v[at + 1])};
    };
    out.known.push_back(scale(4 * s));
    out.unknown.push_back(scale(4 * s + 2));
  }
  return out;
}

}  // namespace starling
