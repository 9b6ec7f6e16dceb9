// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/remote_rooms.h"

#include <algorithm>

#include "scheduling/digest_rooms.h"

namespace starling {
bool RemoteNeed::allows(GpuTypeId type) const noexcept {
  return !typed || std::ranges::find(types, type) != types.end();
}

RemoteNeed need_of(const JobSpec& job, const Topology& topology) {
  RemoteNeed need{job.gpus(), job.workers > 1 ? std::max(job.gpus_per_worker, 1U) : 1,
                  demand_of(job), !job.gpu_types.empty()};
  const auto& all = topology.gpu_types();
  for (std::size_t t = 0; need.typed && t < all.size(); ++t) {
    if (std::ranges::find(job.gpu_types, all[t].name) != job.gpu_types.end())
      need.types.push_back(GpuTypeId{static_cast<GpuTypeId::rep>(t)});
  }
  return need;
}

RemoteRooms::RemoteRooms(const Topology& topology, const RemoteDigest& digest)
    : rooms_(rooms_of(topology, digest)), known_(true) {}

std::uint64_t RemoteRooms::gpus(const RemoteNeed& need, std::optional<GpuTypeId> type) const {
  std::uint64_t gpus = 0;
  for (const ServerRoom& room : rooms_) {
    if (type ? room.type != *type : !need.allows(room.type)) continue;
    gpus += std::uint64_t{room.servers} * (room.gpus_for(need.each) / need.worker * need.worker);
  }
  return gpus;
}

std::uint32_t RemoteRooms::largest(const RemoteNeed& need, std::optional<GpuTypeId> type) const {
  std::uint32_t largest = 0;
  for (const ServerRoom& room : rooms_) {
    if (type ? room.type != *type : !need.allows(room.type)) continue;
    largest = std::max(largest, room.gpus_for(need.each));
  }
  return largest;
}

/// As place() has it.
bool RemoteRooms::start(const RemoteNeed& need, Fit fit, const Shape& shape, bool in_pieces) const {
  if (fit == Fit::server && largest(need) >= need.gpus) return true;
  if (fit == Fit::server) return in_pieces ? gpus(need) >= need.gpus : start_over(need, shape);
  RemoteNeed single = need;
  single.worker = 1;
  return gpus(single) >= need.gpus;
}

/// On servers that are wholly free for such a job, and one for the rest.
bool RemoteRooms::start_over(const RemoteNeed& need, const Shape& shape) const {
  if (need.gpus <= shape.server || shape.server == 0) return false;
  const std::uint32_t each = usable(shape.server, need.worker);
  const std::uint32_t whole = need.gpus / each, rest = need.gpus % each;
  std::uint64_t wholly_free = 0;
  bool other = false;
  for (const ServerRoom& room : rooms_) {
    if (!need.allows(room.type)) continue;
    const std::uint32_t gpus = room.gpus_for(need.each);
    if (gpus == shape.server) {
      wholly_free += room.servers;
    } else {
      other = other || gpus >= rest;
    }
  }
  return wholly_free > whole || (wholly_free == whole && (rest == 0 || other));
}

void RemoteRooms::take(const RemoteNeed& need) {
  for (std::uint32_t left = need.gpus; left > 0;) {
    ServerRoom* best = nullptr;
    std::uint32_t most = 0;
    for (ServerRoom& room : rooms_) {
      const std::uint32_t gpus = need.allows(room.type) ? room.gpus_for(need.each) : 0;
      const bool better = most < left ? gpus > most : gpus >= left && gpus < most;
      if (better) best = &room, most = gpus;
    }
    if (best == nullptr) return;
    const std::uint32_t some = std::min(left, most);
    left -= some;
    ServerRoom rest = *best;
    if (--best->servers == 0) rooms_.erase(rooms_.begin() + (best - rooms_.data()));
    rest.servers = 1;
    rest.free -= some;
    const auto lower = [some](std::int64_t& amount, std::int64_t each) {
      if (amount != ServerRoom::kAnyAmount) amount -= some * each;
    };
    lower(rest.left.cpus, need.each.cpus);
    lower(rest.left.memory, need.each.memory);
    if (rest.free > 0) rooms_.push_back(rest);
  }
}

const RemoteCapacity::Most& RemoteCapacity::of(const Topology& topology, const RemoteDigest& digest,
                                               std::uint32_t look, const JobSpec& job, Fit fit) {
  const auto [at, fresh] = most_.try_emplace({digest.agent, digest.servers, look, {}});
  Most& most = at->second;
  if (!fresh || digest.servers.last > topology.server_count()) return most;
  const Occupancy empty(topology, digest.servers);
  most.shape = shape_for(empty, job);
  most.holds = place(empty, shape_of(empty), job, fit).has_value();
  most.in_pieces = goes_in_pieces(empty, job, fit);
  return most;
}

std::uint64_t RemoteCapacity::gpus(const Topology& topology, const RemoteDigest& digest,
                                   std::uint32_t look, const RemoteNeed& need, GpuTypeId type) {
  const auto [at, fresh] = gpus_.try_emplace({digest.agent, digest.servers, look, type}, 0);
  if (!fresh) return at->second;
  for (std::uint32_t s = digest.servers.first;
       s < std::min(digest.servers.last, topology.server_count()); ++s) {
    const Server& server = topology.server(ServerId{s});
    if (server.gpus.size() == 0 || server.gpu_type != type) continue;
    const std::uint32_t room = std::min(server.gpus.size(), Occupancy::room_of(server, need.each));
    at->second += room / need.worker * need.worker;
  }
  return at->second;
}

}  // namespace starling
