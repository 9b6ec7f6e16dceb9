// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/gang_sharing.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace starling {

std::vector<std::size_t> choose_co_tenants(const SharingGang& gang,
                                           std::span<const CoTenant> offered) {
  const auto loss = [&](std::size_t i) {
    return offered[i].loss / static_cast<double>(std::max<std::size_t>(offered[i].gpus.size(), 1));
  };
  std::vector<std::size_t> by_loss(offered.size()), by_speed, chosen, best;
  std::iota(by_loss.begin(), by_loss.end(), std::size_t{0});
  by_speed = by_loss;
  std::ranges::sort(by_loss, [&](std::size_t a, std::size_t b) {
    return std::tuple(loss(a), a) < std::tuple(loss(b), b);
  });
  std::ranges::sort(by_speed, [&](std::size_t a, std::size_t b) {
    return std::tuple(-offered[a].speed, a) < std::tuple(-offered[b].speed, b);
  });
  double most = gang.least * gang.gpus;
  bool found = false;
  for (const std::size_t slowest : by_speed) {
    const double speed = offered[slowest].speed;
    std::size_t have = gang.free;
    double gain = gang.gpus * gang.alone * speed;
    chosen.clear();
    for (const std::size_t i : by_loss) {
      if (have >= gang.gpus) break;
      const std::size_t room = offered[i].gpus.size() / gang.worker * gang.worker;
      if (offered[i].speed < speed || room == 0) continue;
      have += room;
      gain -= offered[i].loss;
      chosen.push_back(i);
    }
    if (have < gang.gpus || (found ? gain <= most : gain < most)) continue;
    found = true;
    most = gain;
    best = chosen;
  }
  return best;
}

}  // namespace starling
