// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/remote_partitions.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace starling {
namespace {

std::uint64_t hash_of(const RemoteDigest& digest) {
  std::uint64_t hash = mix64(digest.agent.value * 0x9e3779b9ULL + digest.waiting);
  hash = mix64(hash ^ digest.waiting_gpus ^ (std::uint64_t{digest.free} << 32U));
  for (const TypeRoom& room : digest.types)
    hash = mix64(hash ^ room.free ^ (std::uint64_t{room.largest} << 20U) ^
                 (std::uint64_t{room.open} << 40U));
  for (const TypePrice& price : digest.prices)
    hash = mix64(hash ^ price.type.value ^
                 (std::uint64_t{std::bit_cast<std::uint32_t>(price.value)} << 16U));
  for (const ServerRoom& room : digest.rooms) {
    hash = mix64(hash ^ room.type.value ^ (std::uint64_t{room.free} << 20U) ^
                 (std::uint64_t{room.servers} << 40U));
    hash = mix64(hash ^ static_cast<std::uint64_t>(room.left.cpus));
    hash = mix64(hash ^ static_cast<std::uint64_t>(room.left.memory));
  }
  return hash;
}

bool counts(const View& view, const RemoteDigest& digest) {
  return digest.agent != view.me && digest.gpus > 0 &&
         view.now - digest.at <= RemotePartitions::kFresh;
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

void RemotePartitions::read_types(const View& view, const RemoteDigest& digest,
                                  const RemotePartition& peer) {
  auto out = types_.begin() + peer.first_type;
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
    const auto price = std::ranges::find(digest.prices, type.type, &TypePrice::type);
    if (price != digest.prices.end()) type.price = price->value;
    // A job that runs wants what it has: a price below that cannot have been meant.
    const double busy = static_cast<double>(type.gpus - type.free) / type.gpus;
    if (!digest.types.empty()) type.price = std::max(type.price, busy);
    *out++ = type;
  }
}

bool RemotePartitions::same_flock(const View& view, std::uint32_t server) const {
  if (seats_.size() != view.others.size() || server_ != server || me_ != view.me ||
      own_servers_ != view.gpus.servers())
    return false;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const RemoteDigest& d = view.others[i];
    if (seats_[i].agent != d.agent || seats_[i].servers != d.servers ||
        (seats_[i].peer != kNone) != counts(view, d))
      return false;
  }
  return true;
}

void RemotePartitions::list_flock(const View& view, std::uint32_t server) {
  server_ = server;
  me_ = view.me;
  own_servers_ = view.gpus.servers();
  seats_.clear();
  peers_.clear();
  types_.clear();
  all_types_.clear();
  std::uint32_t flock = view.me.value + 1;
  for (const RemoteDigest& d : view.others) flock = std::max(flock, d.agent.value + 1);
  const auto add_types = [&](AgentId agent, IndexRange servers) {
    const auto& types = known(view, agent, servers).types;
    for (const RemoteType& type : types) all_types_.push_back(type.type);
    return types.size();
  };
  for (const RemoteDigest& d : view.others) {
    seats_.push_back({d.agent, d.servers});
    if (!counts(view, d)) continue;
    RemotePartition peer;
    peer.agent = d.agent;
    peer.distance = (d.agent.value + flock - view.me.value) % flock;
    peer.first_type = static_cast<std::uint32_t>(types_.size());
    types_.resize(types_.size() + add_types(d.agent, d.servers));
    peer.last_type = static_cast<std::uint32_t>(types_.size());
    peers_.push_back(peer);
  }
  std::ranges::sort(peers_, {}, &RemotePartition::distance);
  read_.assign(peers_.size(), {});
  for (Seat& seat : seats_) {
    const auto peer = std::ranges::find(peers_, seat.agent, &RemotePartition::agent);
    if (peer != peers_.end()) seat.peer = index_of(*peer);
  }
  add_types(view.me, own_servers_);
  std::ranges::sort(all_types_);
  all_types_.erase(std::unique(all_types_.begin(), all_types_.end()), all_types_.end());
}

void RemotePartitions::drop_old_pledges(Instant now) {
  std::erase_if(pledges_, [&](const Pledge& pledge) {
    if (now - pledge.at <= kPledge) return false;
    const auto peer = std::ranges::find(peers_, pledge.agent, &RemotePartition::agent);
    if (peer != peers_.end()) read_[index_of(*peer)].stands = false;
    return true;
  });
}

bool RemotePartitions::read(const View& view, const RemoteDigest& digest, std::size_t at) {
  Read& read = read_[at];
  const std::uint64_t hash = hash_of(digest);
  const bool changed = hash != read.hash;
  read = {digest.version, hash, true, {}};
  std::erase_if(pledges_,
                [&](const Pledge& p) { return p.agent == digest.agent && p.digest != hash; });
  RemotePartition& peer = peers_[at];
  peer.gpus = digest.gpus;
  peer.free = digest.free;
  peer.largest = digest.largest_free_server;
  peer.whole = digest.whole_free_servers;
  peer.waiting = digest.waiting;
  peer.waiting_gpus = digest.waiting_gpus;
  peer.priced = !digest.prices.empty() || (digest.free == digest.gpus && digest.waiting == 0);
  read_types(view, digest, peer);
  for (const Pledge& pledge : pledges_) {
    if (pledge.agent == peer.agent) use(peer, pledge.need);
  }
  return changed;
}

bool RemotePartitions::begin(const View& view, std::uint32_t server) {
  server = std::max(server, 1U);
  drop_old_pledges(view.now);
  bool changed = !same_flock(view, server);
  if (changed) list_flock(view, server);
  if (view.others.empty()) return false;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const std::size_t at = seats_[i].peer;
    if (at == kNone) continue;
    const RemoteDigest& d = view.others[i];
    peers_[at].digest = &d;
    const bool is_known = d.version != 0 && d.version == read_[at].version;
    if (!is_known || !read_[at].stands) changed = read(view, d, at) || changed;
  }
  if (!changed) return any();
  std::uint64_t seen = view.others.size();
  for (const Seat& seat : seats_) {
    if (seat.peer != kNone) seen = mix64(seen ^ read_[seat.peer].hash);
  }
  if (seen != seen_) ++version_;
  seen_ = seen;
  return any();
}

const RemoteRooms& RemotePartitions::servers(const View& view, const RemotePartition& peer) {
  RemoteRooms& servers = read_[index_of(peer)].servers;
  if (servers.known()) return servers;
  servers = RemoteRooms(view.topology, *peer.digest);
  for (const Pledge& pledge : pledges_) {
    if (pledge.agent == peer.agent) servers.take(pledge.need);
  }
  return servers;
}

void RemotePartitions::forward(const View& view, const JobView& job, AgentId to, RemoteNeed need,
                               std::vector<Decision>& out) {
  out.emplace_back(Forward{job.spec->id, to});
  note_forward(view, to, std::move(need));
}

void RemotePartitions::note_forward(const View& view, AgentId to, RemoteNeed need) {
  ++version_;
  const auto peer = std::ranges::find(peers_, to, &RemotePartition::agent);
  if (peer == peers_.end()) return;
  use(*peer, need);
  pledges_.push_back({to, std::move(need), read_[index_of(*peer)].hash, view.now});
}

void RemotePartitions::use(RemotePartition& peer, const RemoteNeed& need) {
  const std::uint32_t gpus = need.gpus;
  RemoteRooms& servers = read_[index_of(peer)].servers;
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
    type.price += static_cast<double>(gpus) / peer.gpus;
  }
}

}  // namespace starling
