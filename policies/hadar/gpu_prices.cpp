// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/gpu_prices.h"

#include <algorithm>
#include <cmath>

namespace starling {

double PriceRange::at(double taken, double all) const noexcept {
  if (taken >= all) return high;
  return taken <= 0 ? low : low * std::pow(high / low, taken / all);
}

PriceRange price_range(std::span<const PriceAnchor> jobs, double gpus, double rounds) {
  if (jobs.empty()) return {1, 1};
  double high = 0, least = 0, fewest = 0;
  for (const PriceAnchor& job : jobs) {
    const bool first = &job == jobs.data();
    high = std::max(high, job.best_utility / job.gpus);
    const double worst = job.worst_utility / job.gpu_rounds;
    least = first ? worst : std::min(least, worst);
    fewest = first ? job.gpu_rounds : std::min(fewest, job.gpu_rounds);
  }
  const double low = least / 4 * fewest / std::max(gpus * rounds, fewest);
  return {std::min(low, high), high};
}

double competitive_ratio(std::span<const PriceRange> types) noexcept {
  double alpha = 1;
  for (const PriceRange& type : types) alpha = std::max(alpha, std::log(type.high / type.low));
  return 2 * alpha;
}

}  // namespace starling
