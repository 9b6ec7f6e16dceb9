// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/kept_servers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace starling {
namespace {

using Candidate = KeptServers::Candidate;

/// How many of them, from the first on, have `gpus` together. Nothing: all of them have fewer.
std::optional<std::size_t> enough(std::span<const Candidate> soonest_first, std::uint32_t gpus) {
  std::uint64_t have = 0;
  for (std::size_t i = 0; i < soonest_first.size(); ++i) {
    have += soonest_first[i].gpus;
    if (have >= gpus) return i + 1;
  }
  return std::nullopt;
}

}  // namespace

void KeptServers::choose(const Topology& topology, std::vector<Candidate> candidates,
                         std::uint32_t gpus) {
  servers_.clear();
  rest_.reset();
  std::erase_if(candidates, [](const Candidate& c) { return c.gpus == 0; });
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.free_at, a.server) < std::tie(b.free_at, b.server);
  });
  std::map<std::uint32_t, std::vector<Candidate>> racks;
  for (const Candidate& c : candidates) racks[topology.rack_of(c.server)].push_back(c);
  const std::vector<Candidate>* from = &candidates;
  std::size_t count = enough(candidates, gpus).value_or(candidates.size());
  std::optional<Instant> soonest;
  for (const auto& [rack, there] : racks) {
    const auto most = enough(there, gpus);
    if (!most || (soonest && there[*most - 1].free_at >= *soonest)) continue;
    soonest = there[*most - 1].free_at;
    from = &there;
    count = *most;
  }
  for (std::size_t i = 0; i < count; ++i) servers_.push_back((*from)[i].server);
  std::sort(servers_.begin(), servers_.end());
}

bool KeptServers::contains(ServerId server) const {
  return std::binary_search(servers_.begin(), servers_.end(), server);
}

bool KeptServers::any_of(std::span<const GpuId> gpus, const Topology& topology) const {
  return std::any_of(gpus.begin(), gpus.end(), [&](GpuId gpu) {
    return gpu.value < topology.gpu_count() && contains(topology.server_of(gpu));
  });
}

const Occupancy& KeptServers::rest_of(const Occupancy& gpus) {
  if (!rest_) rest_.emplace(gpus);
  rest_->follow(gpus);
  for (const ServerId server : servers_) (void)rest_->block({server.value, server.value + 1});
  return *rest_;
}

}  // namespace starling
