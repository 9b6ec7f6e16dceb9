// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/remote_partitions.h"

#include <algorithm>

#include "base/hash.h"

namespace starling {
namespace {

std::uint64_t hash_of(const RemoteDigest& digest) {
  std::uint64_t hash = mix64(digest.agent.value * 0x9e3779b9ULL + digest.waiting);
  hash = mix64(hash ^ digest.waiting_gpus ^ (std::uint64_t{digest.free} << 32U));
  for (const TypeRoom& room : digest.types)
    hash = mix64(hash ^ room.free ^ (std::uint64_t{room.largest} << 20U) ^
                 (std::uint64_t{room.open} << 40U));
  for (const ServerRoom& room : digest.rooms) {
    hash = mix64(hash ^ room.type.value ^ (std::uint64_t{room.free} << 20U) ^
                 (std::uint64_t{room.servers} << 40U));
    hash = mix64(hash ^ static_cast<std::uint64_t>(room.left.cpus));
    hash = mix64(hash ^ static_cast<std::uint64_t>(room.left.memory));
  }
  return hash;
}

}  // namespace

const RemotePartitions::Known& RemotePartitions::known(const View& view, AgentId agent,
                                                       IndexRange servers) {
  const auto at = std::ranges::lower_bound(known_, agent, {}, &Known::agent);
  if (at != known_.end() && at->agent == agent && at->servers == servers) return *at;
  Known fresh{agent, servers, {}};
  const auto all = static_cast<std::uint32_t>(view.topology.servers().size());
  for (std::uint32_t s = servers.first; s < std::min(servers.last, all); ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    auto type = std::ranges::find(fresh.types, server.gpu_type, &RemoteType::type);
    if (type == fresh.types.end()) type = fresh.types.insert(type, RemoteType{server.gpu_type});
    type->gpus += server.gpus.size();
  }
  std::ranges::sort(fresh.types, {}, &RemoteType::type);
  if (at != known_.end() && at->agent == agent) return *at = std::move(fresh);
  return *known_.insert(at, std::move(fresh));
}

void RemotePartitions::read_types(const View& view, const RemoteDigest& digest) {
  for (RemoteType type : known(view, digest.agent, digest.servers).types) {
    const auto said = std::ranges::find(digest.types, type.type, &TypeRoom::type);
    if (said != digest.types.end()) {
      type.free = std::min(said->free, type.gpus);
      type.largest = std::min(said->largest, type.free);
      type.open = std::min(said->open, type.gpus);
    } else if (type.gpus == digest.gpus) {  // of one type, so the totals say it
      type.free = digest.free;
      type.largest = digest.largest_free_server;
    }
    types_.push_back(type);
    all_types_.push_back(type.type);
  }
}

bool RemotePartitions::begin(const View& view, std::uint32_t server) {
  peers_.clear();
  types_.clear();
  all_types_.clear();
  servers_.clear();
  if (view.others.empty()) return false;
  server_ = std::max(server, 1U);
  std::uint32_t flock = view.me.value + 1;
  for (const RemoteDigest& d : view.others) flock = std::max(flock, d.agent.value + 1);
  std::uint64_t seen = view.others.size();
  std::erase_if(pledges_, [&](const Pledge& p) { return view.now - p.at > kPledge; });
  for (const RemoteDigest& d : view.others) {
    if (d.agent == view.me || d.gpus == 0 || view.now - d.at > kFresh) continue;
    const std::uint64_t hash = hash_of(d);
    seen = mix64(seen ^ hash);
    std::erase_if(pledges_,
                  [&](const Pledge& p) { return p.agent == d.agent && p.digest != hash; });
    RemotePartition peer{d.agent,
                         d.gpus,
                         d.free,
                         d.largest_free_server,
                         d.whole_free_servers,
                         d.waiting,
                         d.waiting_gpus,
                         (d.agent.value + flock - view.me.value) % flock,
                         &d,
                         static_cast<std::uint32_t>(types_.size())};
    read_types(view, d);
    peer.last_type = static_cast<std::uint32_t>(types_.size());
    peers_.push_back(peer);
  }
  std::ranges::sort(peers_, {}, &RemotePartition::distance);
  servers_.resize(peers_.size());
  for (const Pledge& pledge : pledges_) {
    const auto peer = std::ranges::find(peers_, pledge.agent, &RemotePartition::agent);
    if (peer != peers_.end()) use(*peer, pledge.need);
  }
  if (seen != seen_) ++version_;
  seen_ = seen;
  for (const RemoteType& type : known(view, view.me, view.gpus.servers()).types)
    all_types_.push_back(type.type);
  std::ranges::sort(all_types_);
  all_types_.erase(std::unique(all_types_.begin(), all_types_.end()), all_types_.end());
  return any();
}

const RemoteRooms& RemotePartitions::servers(const View& view, const RemotePartition& peer) {
  RemoteRooms& servers = servers_[static_cast<std::size_t>(&peer - peers_.data())];
  if (servers.known()) return servers;
  servers = RemoteRooms(view.topology, *peer.digest);
  for (const Pledge& pledge : pledges_) {
    if (pledge.agent == peer.agent) servers.take(pledge.need);
  }
  return servers;
}

void RemotePartitions::give(const View& view, AgentId to, RemoteNeed need) {
  ++version_;
  const auto peer = std::ranges::find(peers_, to, &RemotePartition::agent);
  if (peer == peers_.end()) return;
  use(*peer, need);
  pledges_.push_back({to, std::move(need), hash_of(*peer->digest), view.now});
}

void RemotePartitions::use(RemotePartition& peer, const RemoteNeed& need) {
  const std::uint32_t gpus = need.gpus;
  RemoteRooms& servers = servers_[static_cast<std::size_t>(&peer - peers_.data())];
  if (servers.known()) servers.take(need);
  peer.waiting_gpus += gpus;
  peer.free -= std::min(peer.free, gpus);
  if (gpus > server_) {
    peer.whole -= std::min(peer.whole, (gpus + server_ - 1) / server_);
  } else if (peer.largest < server_ || peer.whole == 0) {
    peer.largest -= std::min(peer.largest, gpus);
  } else {
    --peer.whole;
  }
  if (peer.whole == 0 && peer.largest >= server_) peer.largest = server_ - std::min(server_, gpus);
  peer.largest = std::min(peer.largest, peer.free);
  for (std::uint32_t i = peer.first_type; i < peer.last_type; ++i) {
    RemoteType& type = types_[i];
    if (!need.allows(type.type)) continue;
    type.free -= std::min(type.free, gpus);
    type.largest = std::min(type.largest, type.free);
  }
}

}  // namespace starling
