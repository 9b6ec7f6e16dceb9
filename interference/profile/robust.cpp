// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/robust.h"

#include <algorithm>
#include <cmath>

namespace starling {

std::optional<std::size_t> interval_cut(std::size_t n) {
  // As many values lie below the median as heads in n throws of a coin. The k-th smallest value is
  // above the median if there are fewer than k heads: that may happen with at most 2.5 %.
  const auto tosses = static_cast<double>(n);
  double below = 0;
  std::optional<std::size_t> cut;
  for (std::size_t heads = 0; 2 * heads < n; ++heads) {
    const auto k = static_cast<double>(heads);
    below += std::exp(std::lgamma(tosses + 1) - std::lgamma(k + 1) - std::lgamma(tosses - k + 1) -
                      tosses * std::log(2.0));
    if (below > 0.025) break;
    cut = heads;
  }
  return cut;
}

Estimate robust_estimate(std::vector<double> values) {
  Estimate out;
  out.n = values.size();
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const std::size_t middle = out.n / 2;
  out.median = out.n % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  if (const auto cut = interval_cut(out.n)) {
    out.interval = Estimate::Range{values[*cut], values[out.n - 1 - *cut]};
  }
  return out;
}

}  // namespace starling
