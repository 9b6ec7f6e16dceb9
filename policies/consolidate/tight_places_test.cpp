// SPDX-License-Identifier: Apache-2.0
#include "policies/consolidate/tight_places.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "scheduling/packing.h"
#include "topology/file/load.h"

namespace starling {
namespace {

// Islands of 4, 2 and 1 GPUs, servers without any, and racks of unequal size.
constexpr const char* kServers = R"(
server_templates:
  four: {gpus: 8, gpu_type: V100, cpus: 1, memory_gib: 1, island: 4}
  two: {gpus: 6, gpu_type: V100, cpus: 1, memory_gib: 1, island: 2}
  one: {gpus: 3, gpu_type: K80, cpus: 1, memory_gib: 1, island: 1}
  cpu: {gpus: 0, cpus: 1, memory_gib: 1}
pods:
  - racks:
      - servers: [{template: four, count: 3}, {template: cpu}]
      - servers: [{template: two, count: 4}]
  - racks:
      - servers: [{template: four, count: 5}]
      - servers: [{template: one, count: 2}, {template: four, count: 2}]
)";

std::optional<Placement> naive_island(const Occupancy& gpus, std::uint32_t count) {
  std::optional<Placement> best;
  std::uint32_t best_free = 0;
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
    const std::uint32_t free = gpus.free_on(ServerId{s});
    std::map<std::uint32_t, Placement> islands;
    const IndexRange range = gpus.topology().server(ServerId{s}).gpus;
    for (std::uint32_t g = range.first; g < range.last; ++g) {
      if (gpus.is_free(GpuId{g})) islands[gpus.topology().island_of(GpuId{g})].push_back(GpuId{g});
    }
    for (const auto& [island, members] : islands) {
      if (members.size() < count) continue;
      const bool tighter = !best || members.size() < best->size() ||
                           (members.size() == best->size() && free < best_free);
      if (!tighter) continue;
      best = members;
      best_free = free;
    }
  }
  if (best) best->resize(count);
  return best;
}

std::optional<Placement> naive_rack(const Occupancy& gpus, std::uint32_t count) {
  std::map<std::uint32_t, std::vector<ServerId>> racks;
  for (const ServerId server : gpus.whole_free_servers(8, 1000)) {
    racks[gpus.topology().rack_of(server)].push_back(server);
  }
  const std::vector<ServerId>* best = nullptr;
  for (const auto& [rack, servers] : racks) {
    if (servers.size() < count || (best != nullptr && servers.size() >= best->size())) continue;
    best = &servers;
  }
  if (best == nullptr) return std::nullopt;
  Placement out;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto part = gpus.free_gpus((*best)[i], 8);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

TEST_CASE("the tightest island and rack are what a look at all of them finds") {
  const Topology topology = parse_topology_yaml(kServers, "servers").value();
  for (const IndexRange part : {IndexRange{0, topology.server_count()}, IndexRange{2, 11}}) {
    Occupancy gpus(topology, part);
    Mirror mirror;
    TightPlaces places;
    Rng rng(part.last, part.first);
    for (int step = 0; step < 1500; ++step) {
      for (std::uint32_t n = rng.below(rng.chance(0.05) ? 120 : 5); n > 0; --n) {
        const GpuId gpu{gpus.gpus().first + rng.below(gpus.gpus().size())};
        gpus.is_free(gpu) ? gpus.take(std::vector{gpu}) : gpus.give_back(std::vector{gpu});
      }
      if (rng.chance(0.05))
        gpus.give_back([&] {
          std::vector<GpuId> taken;
          for (std::uint32_t g = gpus.gpus().first; g < gpus.gpus().last; ++g) {
            if (!gpus.is_free(GpuId{g})) taken.push_back(GpuId{g});
          }
          return taken;
        }());
      Trial trial(mirror, gpus);
      for (int tries = 0; tries < 3; ++tries) {
        places.follow(trial.gpus(), 8);
        const std::uint32_t count = 1 + rng.below(4);
        const auto island = places.island(count);
        REQUIRE(island == naive_island(trial.gpus(), count));
        REQUIRE(places.rack(count) == naive_rack(trial.gpus(), count));
        if (island) trial.take(*island);
      }
    }
  }
}

}  // namespace
}  // namespace starling
