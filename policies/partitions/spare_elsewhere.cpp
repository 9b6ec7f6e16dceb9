// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/spare_elsewhere.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "policies/partitions/remote_partitions.h"

namespace starling {
namespace {

/// Its servers of the type, and GPUs of the commonest size of all of them.
struct There {
  std::vector<ServerId> servers;
  std::uint32_t commonest = 0;
  bool one_type = true;
};

There look(const View& view, const RemoteDigest& digest, GpuTypeId type) {
  There there;
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (std::uint32_t s = digest.servers.first;
       s < std::min(digest.servers.last, view.topology.server_count()); ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    ++sizes[server.gpus.size()];
    if (server.gpu_type == type) {
      there.servers.emplace_back(s);
    } else {
      there.one_type = false;
    }
  }
  std::uint32_t most = 0;
  for (const auto& [size, count] : sizes) {
    if (count > most) most = count, there.commonest = size;
  }
  return there;
}

std::uint32_t free_of(const RemoteDigest& digest, const There& there, GpuTypeId type) {
  if (there.one_type && digest.whole_free_servers > 0)
    return std::min(digest.whole_free_servers * there.commonest, digest.free);
  const auto room = std::ranges::find(digest.types, type, &TypeRoom::type);
  if (room != digest.types.end()) return std::min(room->free, digest.free);
  return digest.types.empty() && there.one_type ? digest.free : 0;
}

}  // namespace

std::vector<SparePart> spare_elsewhere(const View& view, GpuTypeId type) {
  std::vector<SparePart> all;
  for (const RemoteDigest& digest : view.others) {
    if (digest.agent == view.me || digest.waiting > 0 || digest.free == 0 ||
        later(digest.at, RemotePartitions::kFresh) < view.now)
      continue;
    const There there = look(view, digest, type);
    SparePart part{digest.agent, {}};
    std::uint32_t left = free_of(digest, there, type);
    if (there.servers.size() > 1) left -= std::min(left, there.commonest);
    for (const ServerId server : there.servers) {
      const IndexRange gpus = view.topology.server(server).gpus;
      for (std::uint32_t g = gpus.first; g < gpus.last && left > 0; ++g, --left)
        part.guess.emplace_back(g);
    }
    if (!part.guess.empty()) all.push_back(std::move(part));
  }
  const auto agents = static_cast<std::uint32_t>(view.others.size()) + 1;
  std::ranges::stable_sort(all, {}, [&](const SparePart& part) {
    const std::uint32_t after = (part.agent.value + agents - view.me.value % agents) % agents;
    return std::tuple(-static_cast<std::int64_t>(part.guess.size()), after, part.agent);
  });
  return all;
}

}  // namespace starling
