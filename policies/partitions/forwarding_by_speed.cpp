// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/forwarding_by_speed.h"

#include <algorithm>
#include <tuple>

namespace starling {
namespace {

constexpr double kAsGood = 0.8;  // part of the speed that it could have here

}  // namespace

bool ForwardingBySpeed::begin(const View& view) {
  constexpr std::uint32_t kAnyServer = 1;  // whole servers do not count here
  return peers_.begin(view, kAnyServer);
}

double ForwardingBySpeed::best(const View& view, const PlacementRequest& request,
                               const JobProfile& profile) {
  double best = 0;
  for (const GpuTypeId type : types())
    best = std::max(best, speeds_.alone(view, request, profile, type));
  return best;
}

Destination ForwardingBySpeed::best_type(const View& view, const RemotePartition& peer,
                                         const JobView& job, const PlacementRequest& request,
                                         const JobProfile& profile, double least,
                                         const RemoteNeed* need) {
  Destination best;
  for (const RemoteType& type : peers_.types(peer)) {
    const std::uint64_t most =
        need ? peers_.capacity().gpus(view.topology, *peer.digest, request.look, *need, type.type)
             : type.gpus;
    if (most < request.gpus) continue;
    const double speed = speeds_.alone(view, request, profile, type.type);
    if (speed < least) continue;
    const RemoteRooms* servers = need ? &peers_.servers(view, peer) : nullptr;
    const std::uint64_t free = need ? servers->gpus(*need, type.type) : type.free;
    const std::uint32_t largest = need ? servers->largest(*need, type.type) : type.largest;
    const bool starts = free >= request.gpus;
    if (!starts && job.forwards >= most_moves_in_hope(peers_.count())) continue;
    if (std::tuple(starts, speed) <= std::tuple(best.starts, best.speed)) continue;
    const double all = type.gpus;
    best = {};
    best.to = peer.agent;
    best.type = type.type;
    best.speed = speed;
    best.starts = starts;
    best.one_server = largest >= request.gpus;
    best.free = type.free / all;
    best.joins = type.open >= request.gpus;
    best.open = type.open / all;
    best.queue = static_cast<double>(peer.waiting_gpus) / peer.gpus;
    best.summary = peer.digest->summary;
  }
  return best;
}

bool ForwardingBySpeed::find(const View& view, const QueueEntry& entry, const JobView& job,
                             const PlacementRequest& request, const JobProfile& profile,
                             double threshold, std::vector<Destination>& out) {
  out.clear();
  if (job.forwards >= most_moves(peers_.count())) return false;
  if (!may_move(view, entry, job)) return true;
  const double least = std::max(threshold * best(view, request, profile), 1e-9);
  std::optional<RemoteNeed> need;  // only of those who ask for CPUs or memory
  if (demand_of(*job.spec).any()) need = need_of(*job.spec, view.topology);
  for (const RemotePartition& peer : peers_.all()) {
    if (was_offered(job, peer.agent)) continue;
    const Destination d =
        best_type(view, peer, job, request, profile, least, need ? &*need : nullptr);
    if (d.speed <= 0) continue;
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

const Destination* ForwardingBySpeed::faster(std::span<const Destination> found, double slowdown) {
  if (found.empty() || !found.front().starts) return nullptr;
  const Destination& first = found.front();
  return 1 / first.speed - 1 + kWorthIt < slowdown ? &first : nullptr;
}

const Destination* ForwardingBySpeed::better_queue(std::span<const Destination> found, double here,
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

void ForwardingBySpeed::forward(const View& view, const JobView& job, const Destination& to,
                                std::vector<Decision>& out) {
  RemoteNeed need = need_of(*job.spec, view.topology);
  need.typed = true;
  need.types = {to.type};
  peers_.forward(view, job, to.to, std::move(need), out);
}

std::uint64_t ForwardingBySpeed::free_of(const View& view, GpuTypeId type, const JobSpec& job) {
  std::uint64_t free = 0;
  if (demand_of(job).any()) {
    const RemoteNeed need = need_of(job, view.topology);
    for (const RemotePartition& peer : peers_.all())
      free += peers_.servers(view, peer).gpus(need, type);
    return free;
  }
  for (const RemotePartition& peer : peers_.all()) {
    for (const RemoteType& of : peers_.types(peer)) free += of.type == type ? of.free : 0;
  }
  return free;
}

std::uint64_t ForwardingBySpeed::open_of(GpuTypeId type) const {
  std::uint64_t open = 0;
  for (const RemotePartition& peer : peers_.all()) {
    for (const RemoteType& of : peers_.types(peer)) open += of.type == type ? of.open : 0;
  }
  return open;
}

}  // namespace starling
