// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/elsewhere.h"

#include <algorithm>
#include <tuple>

#include "base/hash.h"

namespace starling {
namespace {

constexpr double kAsGood = 0.8;  // part of the speed that it could have here

/// Moves that a job may make in the hope of something: to all others, and to those that are calmer.
std::size_t looks_around(std::size_t others) { return 2 * others + 4; }
constexpr std::size_t kMoves = 3;  // of that, in all

}  // namespace

const Elsewhere::Known& Elsewhere::known(const View& view, AgentId agent, IndexRange servers) {
  const auto at = std::lower_bound(known_.begin(), known_.end(), agent,
                                   [](const Known& k, AgentId a) { return k.agent < a; });
  if (at != known_.end() && at->agent == agent && at->servers == servers) return *at;
  Known fresh{agent, servers, {}};
  const auto all = static_cast<std::uint32_t>(view.topology.servers().size());
  for (std::uint32_t s = servers.first; s < std::min(servers.last, all); ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    const auto same = [&](const Part& part) { return part.type == server.gpu_type; };
    auto part = std::find_if(fresh.parts.begin(), fresh.parts.end(), same);
    if (part == fresh.parts.end()) part = fresh.parts.insert(part, Part{server.gpu_type});
    part->gpus += server.gpus.size();
  }
  std::ranges::sort(fresh.parts, {}, &Part::type);
  if (at != known_.end() && at->agent == agent) return *at = std::move(fresh);
  return *known_.insert(at, std::move(fresh));
}

std::uint64_t Elsewhere::hash_of(const RemoteDigest& digest) {
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

bool Elsewhere::begin(const View& view) {
  rooms_.clear();
  parts_.clear();
  types_.clear();
  if (view.others.empty()) return false;
  speeds_.sync(view);
  std::uint32_t flock = view.me.value + 1;
  for (const RemoteDigest& d : view.others) flock = std::max(flock, d.agent.value + 1);
  std::uint64_t seen = view.others.size();
  for (const RemoteDigest& d : view.others) {
    if (d.agent == view.me || d.gpus == 0 || view.now - d.at > Cooperation::kDigestFresh) continue;
    const std::uint64_t hash = hash_of(d);
    seen = mix64(seen ^ hash);
    Room room{d.agent,
              d.gpus,
              d.waiting_gpus,
              (d.agent.value + flock - view.me.value) % flock,
              static_cast<std::uint32_t>(parts_.size()),
              0,
              &d};
    for (Part part : known(view, d.agent, d.servers).parts) {
      const auto said = std::ranges::find(d.types, part.type, &TypeRoom::type);
      if (said != d.types.end()) {
        part.free = std::min(said->free, part.gpus);
        part.largest = std::min(said->largest, part.free);
        part.open = std::min(said->open, part.gpus);
      } else if (part.gpus == d.gpus) {  // of one type, so the totals say it
        part.free = d.free;
        part.largest = d.largest_free_server;
      }
      parts_.push_back(part);
      types_.push_back(part.type);
    }
    room.last = static_cast<std::uint32_t>(parts_.size());
    rooms_.push_back(room);
    std::erase_if(pledges_,
                  [&](const Pledge& p) { return p.agent == d.agent && p.digest != hash; });
  }
  std::erase_if(pledges_, [&](const Pledge& p) { return view.now - p.at > Cooperation::kPledge; });
  for (const Pledge& pledge : pledges_) use(pledge.agent, pledge.need);
  std::ranges::sort(rooms_, {}, &Room::turn);
  if (seen != seen_) ++version_;
  seen_ = seen;
  for (const Part& part : known(view, view.me, view.gpus.servers()).parts)
    types_.push_back(part.type);
  std::ranges::sort(types_);
  types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
  return any();
}

double Elsewhere::best(const Wish& wish, const JobProfile& profile) {
  double best = 0;
  for (const GpuTypeId type : types_) best = std::max(best, speeds_.alone(wish, profile, type));
  return best;
}

bool Elsewhere::find(const View& view, const QueueEntry& entry, const JobView& job,
                     const Wish& wish, const JobProfile& profile, double threshold,
                     std::vector<Destination>& out) {
  out.clear();
  const std::size_t looks = looks_around(rooms_.size());
  if (job.forwards >= kMoves * looks) return false;
  if (view.now - entry.since < forward_backoff(job.forwards)) return true;
  const double least = std::max(threshold * best(wish, profile), 1e-9);
  std::optional<RemoteNeed> need;  // only of those who ask for CPUs or memory
  if (demand_of(*job.spec).any()) need = need_of(*job.spec, view.topology);
  for (Room& room : rooms_) {
    const auto& offered = job.offered;
    if (std::find(offered.begin(), offered.end(), room.agent) != offered.end()) continue;
    Destination d;
    for (std::uint32_t i = room.first; i < room.last; ++i) {
      const Part& part = parts_[i];
      const RemoteDigest& digest = *room.digest;
      const std::uint64_t most =
          need ? capacity_.gpus(view.topology, digest, wish.look, *need, part.type) : part.gpus;
      if (most < wish.gpus) continue;
      const double speed = speeds_.alone(wish, profile, part.type);
      if (speed < least) continue;
      const RemoteRooms* servers = need ? &servers_of(view, room) : nullptr;
      const std::uint64_t free = need ? servers->gpus(*need, part.type) : part.free;
      const std::uint32_t largest = need ? servers->largest(*need, part.type) : part.largest;
      const bool starts = free >= wish.gpus;
      if (!starts && job.forwards >= looks) continue;
      if (std::tuple(starts, speed) <= std::tuple(d.starts, d.speed)) continue;
      const double all = part.gpus;
      d = {};
      d.to = room.agent;
      d.type = part.type;
      d.speed = speed;
      d.starts = starts;
      d.one_server = largest >= wish.gpus;
      d.free = part.free / all;
      d.joins = part.open >= wish.gpus;
      d.open = part.open / all;
      d.summary = digest.summary;
    }
    if (d.speed <= 0) continue;
    d.queue = static_cast<double>(room.waiting_gpus) / room.gpus;
    const auto before = [&](const Destination& a) {
      return std::tuple(!a.starts, -a.speed, a.queue) <= std::tuple(!d.starts, -d.speed, d.queue);
    };
    // Ties go to the next agent after this one.
    const auto at = std::find_if_not(out.begin(), out.end(), before);
    if (at != out.end() || out.size() < kOptions) out.insert(at, d);
    if (out.size() > kOptions) out.pop_back();
  }
  return false;
}

const Destination* Elsewhere::faster(std::span<const Destination> found, double slowdown) {
  if (found.empty() || !found.front().starts) return nullptr;
  const Destination& first = found.front();
  return 1 / first.speed - 1 + kWorthIt < slowdown ? &first : nullptr;
}

const Destination* Elsewhere::better_queue(std::span<const Destination> found, double here,
                                           double queue, bool tries) {
  const Destination* best = nullptr;
  const auto cost = [](double speed, double q) { return (1 + q) / speed; };
  for (const Destination& d : found) {
    if (best == nullptr || cost(d.speed, d.queue) < cost(best->speed, best->queue)) best = &d;
  }
  if (best == nullptr || here <= 0) return best;
  if (cost(best->speed, best->queue + kCalmer) < cost(here, queue)) return best;
  if (!tries) return nullptr;
  best = nullptr;
  for (const Destination& d : found) {
    if (d.joins && d.speed >= here * kAsGood && (best == nullptr || d.open > best->open)) best = &d;
  }
  return best;
}

void Elsewhere::give(const View& view, const Destination& to, const JobSpec& job) {
  ++version_;
  RemoteNeed need = need_of(job, view.topology);
  need.typed = true;
  need.types = {to.type};
  use(to.to, need);
  for (const RemoteDigest& d : view.others) {
    if (d.agent == to.to) pledges_.push_back({to.to, need, hash_of(d), view.now});
  }
}

RemoteRooms& Elsewhere::servers_of(const View& view, Room& room) {
  if (room.servers.known()) return room.servers;
  room.servers = RemoteRooms(view.topology, *room.digest);
  for (const Pledge& pledge : pledges_) {
    if (pledge.agent == room.agent) room.servers.take(pledge.need);
  }
  return room.servers;
}

void Elsewhere::use(AgentId agent, const RemoteNeed& need) {
  for (Room& room : rooms_) {
    if (room.agent != agent) continue;
    room.waiting_gpus += need.gpus;
    if (room.servers.known()) room.servers.take(need);
    for (std::uint32_t i = room.first; i < room.last; ++i) {
      Part& part = parts_[i];
      if (!need.allows(part.type)) continue;
      part.free -= std::min(part.free, need.gpus);
      part.largest = std::min(part.largest, part.free);
    }
  }
}

std::uint64_t Elsewhere::free_of(const View& view, GpuTypeId type, const JobSpec& job) {
  std::uint64_t free = 0;
  if (demand_of(job).any()) {
    const RemoteNeed need = need_of(job, view.topology);
    for (Room& room : rooms_) free += servers_of(view, room).gpus(need, type);
    return free;
  }
  for (const Part& part : parts_) free += part.type == type ? part.free : 0;
  return free;
}

}  // namespace starling
