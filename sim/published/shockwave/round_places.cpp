// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_places.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace starling {

RoundPlaces place_round(const RoundPlaces& before, std::span<const std::size_t> chosen,
                        const RoundJobs& jobs, std::uint32_t gpus) {
  RoundPlaces places;
  std::vector<bool> taken(gpus, false);
  std::vector<std::size_t> order(chosen.begin(), chosen.end());
  const auto size = [&](std::size_t job) { return jobs.at(job).spec->gpus; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  for (auto equal = order.begin(); equal != order.end();) {
    const auto end = std::find_if(equal, order.end(),
                                  [&](std::size_t job) { return size(job) != size(*equal); });
    for (auto job = equal; job != end; ++job) {
      const auto was = before.find(*job);
      if (was == before.end()) continue;
      const bool free = std::none_of(was->second.begin(), was->second.end(),
                                     [&](std::uint32_t gpu) { return taken[gpu]; });
      if (!free) continue;
      for (const std::uint32_t gpu : was->second) taken[gpu] = true;
      places[*job] = was->second;
    }
    for (; equal != end; ++equal) {
      if (places.contains(*equal)) continue;
      std::vector<std::uint32_t>& mine = places[*equal];
      for (std::uint32_t gpu = 0; gpu < gpus && mine.size() < size(*equal); ++gpu) {
        if (taken[gpu]) continue;
        taken[gpu] = true;
        mine.push_back(gpu);
      }
      STARLING_CHECK(mine.size() == size(*equal));
    }
  }
  return places;
}

}  // namespace starling
