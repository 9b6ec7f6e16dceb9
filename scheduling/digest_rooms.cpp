// SPDX-License-Identifier: Apache-2.0
#include "scheduling/digest_rooms.h"

#include <algorithm>
#include <cstdint>

namespace starling {
namespace {

/// The best that a server of the type has to give, all free.
Demand best_of(const Topology& topology, IndexRange servers, GpuTypeId type) {
  Demand best;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    if (server.gpus.size() == 0 || server.gpu_type != type) continue;
    best.cpus = std::max(best.cpus, ServerRoom::amount_of(server.cpus));
    best.memory = std::max(best.memory, ServerRoom::amount_of(server.memory_gib));
  }
  return best;
}

/// All of them, with no job on them.
std::vector<ServerRoom> empty_servers(const Topology& topology, IndexRange servers) {
  std::vector<ServerRoom> rooms;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    const Demand all{ServerRoom::amount_of(server.cpus), ServerRoom::amount_of(server.memory_gib)};
    const ServerRoom one{server.gpu_type, server.gpus.size(), 1, all};
    const auto same = std::ranges::find_if(rooms, [&](const ServerRoom& room) {
      return room.type == one.type && room.free == one.free && room.left == one.left;
    });
    same == rooms.end() ? rooms.push_back(one) : (void)++same->servers;
  }
  return rooms;
}

}  // namespace

std::vector<ServerRoom> rooms_of(const Topology& topology, const RemoteDigest& digest) {
  std::vector<ServerRoom> rooms(digest.rooms.begin(), digest.rooms.end());
  if (!rooms.empty() || digest.free == 0) return rooms;
  const IndexRange servers{digest.servers.first,
                           std::min(digest.servers.last, topology.server_count())};
  if (digest.free == digest.gpus && servers.first < servers.last)
    return empty_servers(topology, servers);
  std::vector<TypeRoom> types(digest.types.begin(), digest.types.end());
  for (std::uint32_t s = servers.first; digest.types.empty() && s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    const bool known = std::ranges::find(types, server.gpu_type, &TypeRoom::type) != types.end();
    if (server.gpus.size() > 0 && !known)
      types.push_back({server.gpu_type, digest.free, digest.largest_free_server, 0});
  }
  for (const TypeRoom& type : types) {
    if (type.largest == 0) continue;
    const Demand all = best_of(topology, servers, type.type);
    rooms.push_back({type.type, type.largest, type.free / type.largest, all});
    if (const std::uint32_t rest = type.free % type.largest; rest > 0)
      rooms.push_back({type.type, rest, 1, all});
  }
  return rooms;
}

}  // namespace starling
