// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "interference/profile.h"
#include "policies/elastic/division.h"

namespace starling {

std::optional<Placement> place_evenly(const Occupancy& gpus, const JobSpec& job,
                                      std::uint32_t workers, std::optional<GpuTypeId> type) {
  const Demand each = demand_of(job);
  std::vector<ServerId> servers;
  for (std::uint32_t i = gpus.servers().first; i < gpus.servers().last; ++i) {
    const ServerId server{i};
    if (type && gpus.topology().server(server).gpu_type != *type) continue;
    if (gpus.free_on(server, each) >= job.gpus_per_worker && allows(job, gpus.topology(), server)) {
      servers.push_back(server);
    }
  }
  std::stable_sort(servers.begin(), servers.end(), [&](ServerId a, ServerId b) {
    return gpus.free_on(a, each) > gpus.free_on(b, each);
  });
  for (std::uint32_t k = 1; k <= std::min<std::size_t>(workers, servers.size()); ++k) {
    const auto on = [&](std::uint32_t i) {
      return (workers / k + (i < workers % k ? 1U : 0U)) * job.gpus_per_worker;
    };
    bool fits = true;
    for (std::uint32_t i = 0; i < k && fits; ++i) fits = gpus.free_on(servers[i], each) >= on(i);
    if (!fits) continue;
    // The last that have room for the largest part; the first k may not, but then have enough.
    std::size_t last = k;
    while (last < servers.size() && gpus.free_on(servers[last], each) >= on(0)) ++last;
    std::stable_sort(servers.begin(), servers.begin() + static_cast<std::ptrdiff_t>(last),
                     [&](ServerId a, ServerId b) {
                       return std::pair(gpus.free_on(a, each), a) <
                              std::pair(gpus.free_on(b, each), b);
                     });
    if (last == k) std::reverse(servers.begin(), servers.begin() + k);
    Placement out;
    for (std::uint32_t i = 0; i < k; ++i) {
      const auto part = gpus.free_gpus(servers[i], on(i));
      out.insert(out.end(), part.begin(), part.end());
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  return std::nullopt;
}

std::optional<Placement> place_on_fastest(const ElasticCall& call, const Occupancy& gpus,
                                          const JobSpec& job, std::uint32_t workers) {
  auto best = place_evenly(gpus, job, workers);
  const std::size_t types = gpus.topology().gpu_types().size();
  if (types > 1) {
    const JobProfile profile = profile_of(job, workers * job.gpus_per_worker);
    const auto relative = [&](const Placement& placement) {
      return std::llround(call.view.speed.speed(profile, placement, {}).relative * 1e6);
    };
    std::int64_t most = best ? relative(*best) : -1;
    for (std::size_t type = 0; type < types; ++type) {
      auto found = place_evenly(gpus, job, workers, GpuTypeId{static_cast<std::uint16_t>(type)});
      if (!found || relative(*found) <= most) continue;
      most = relative(*found);
      best = std::move(found);
    }
  }
  if (best) return best;
  JobSpec sized = job;
  sized.workers = workers;
  return place(gpus, call.shape, sized, Fit::count);
}

}  // namespace starling
