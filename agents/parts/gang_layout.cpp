// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/gang_layout.h"

#include <algorithm>

namespace starling {

std::vector<GangPart> gang_layout(std::span<const Share> gang, std::uint32_t gpus_per_worker,
                                  const Topology& topology) {
  Placement all;
  for (const Share& share : gang) all.insert(all.end(), share.gpus.begin(), share.gpus.end());
  if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());

  const std::uint32_t per_worker = std::max(gpus_per_worker, 1U);
  std::vector<GangPart> parts;
  std::uint32_t rank = 0;
  for (auto first = all.begin(); first != all.end();) {
    const ServerId server = topology.server_of(*first);
    const std::uint32_t end = topology.server(server).gpus.last;
    const auto last = std::find_if(first, all.end(), [&](GpuId gpu) { return gpu.value >= end; });
    const auto workers = (static_cast<std::uint32_t>(last - first) + per_worker - 1) / per_worker;
    parts.push_back({server, Placement(first, last), rank, workers});
    rank += workers;
    first = last;
  }
  return parts;
}

}  // namespace starling
