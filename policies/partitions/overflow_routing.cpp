// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/overflow_routing.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace starling {
namespace {

std::uint64_t per_mille(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : part * 1000 / whole;
}

/// Servers of the partition's commonest size, which its digests count when they are wholly free.
std::uint64_t most_whole(const Topology& topology, const RemoteDigest& digest) {
  std::map<std::uint32_t, std::uint64_t> sizes;
  std::uint64_t most = 0;
  for (std::uint32_t s = digest.servers.first;
       s < std::min(digest.servers.last, topology.server_count()); ++s) {
    const std::uint32_t gpus = topology.server(ServerId{s}).gpus.size();
    if (gpus > 0) most = std::max(most, ++sizes[gpus]);
  }
  return most;
}

/// Not even where everything is free are there wholly free servers of `server` GPUs for so many.
/// O(servers of the flock) if so.
bool never_whole(const View& view, std::span<const RemotePartition> peers, std::uint32_t server,
                 std::uint64_t gpus) {
  const auto sizes = view.gpus.sizes();
  std::uint64_t servers = server < sizes.size() ? sizes[server] : 0;
  for (const RemotePartition& peer : peers) {
    if (servers * server >= gpus) return false;
    servers += most_whole(view.topology, *peer.digest);
  }
  return servers * server < gpus;
}

}  // namespace

bool OverflowRouting::begin(const View& view, const Shape& shape) {
  ++state_;
  moves_from_ = kNever;
  server_ = std::max(shape.server, 1U);
  one_type_ = view.topology.gpu_types().size() <= 1;
  if (!peers_.begin(view, server_)) return false;
  gangs_.begin(view.now);
  measure();
  return true;
}

void OverflowRouting::measure() {
  most_ = 0;
  most_particular_ = 0;
  free_elsewhere_ = 0;
  whole_elsewhere_ = 0;
  for (const RemotePartition& peer : peers_.all()) {
    const std::uint32_t servers = peer.whole * server_;
    free_elsewhere_ += peer.free;
    whole_elsewhere_ += servers;
    if (strict_ && peer.waiting > 0) continue;
    most_particular_ = std::max(most_particular_, peer.free);
    most_ = std::max(most_, fit_ == Fit::count ? peer.free : std::max(peer.largest, servers));
  }
}

/// It may, as far as the number of its GPUs goes.
bool OverflowRouting::starts_elsewhere(const QueueEntry& entry) const {
  return entry.gpus <= (particular(entry) ? most_particular_ : most_);
}

bool OverflowRouting::can_start(const View& view, const RemotePartition& peer,
                                const QueueEntry& entry, const JobView& job) {
  if (strict_ && peer.waiting > 0) return false;
  const std::uint32_t gpus = entry.gpus;
  if (particular(entry)) {
    if (gpus > peer.free) return false;
    const Fit fit = fit_of(entry);
    const RemoteCapacity::Most& most =
        peers_.capacity().of(view.topology, *peer.digest, entry.look, *job.spec, fit);
    const RemoteNeed need = need_of(*job.spec, view.topology);
    return peers_.servers(view, peer).start(need, fit, most.shape, most.in_pieces);
  }
  if (fit_ == Fit::count) return gpus <= peer.free;
  if (gpus <= peer.largest) return true;
  return gpus > server_ && (gpus + server_ - 1) / server_ <= peer.whole;
}

bool OverflowRouting::could_hold(const View& view, const RemotePartition& peer,
                                 const QueueEntry& entry, const JobView& job) {
  if (peer.gpus < entry.gpus) return false;
  return !particular(entry) ||
         peers_.capacity()
             .of(view.topology, *peer.digest, entry.look, *job.spec, fit_of(entry))
             .holds;
}

const RemotePartition* OverflowRouting::best_peer(const View& view, const QueueEntry& entry,
                                                  const JobView& job) {
  const bool kept = particular(entry);
  if (kept) {
    if (entry.look >= roomless_.size()) roomless_.resize(entry.look + std::size_t{1});
    if (roomless_[entry.look] == state_) return nullptr;
  }
  const RemotePartition* best = nullptr;
  const auto rank = [](const RemotePartition& p) {
    return std::tuple(p.waiting > 0, 1000 - per_mille(p.free, p.gpus), p.distance);
  };
  for (const RemotePartition& peer : peers_.all()) {
    if (is_out(view, job, peer) || !can_start(view, peer, entry, job)) continue;
    if (best == nullptr || rank(peer) < rank(*best)) best = &peer;
  }
  // A job that has been nowhere speaks for all of its look.
  if (kept && best == nullptr && job.offered.empty()) roomless_[entry.look] = state_;
  return best;
}

const RemotePartition* OverflowRouting::feasible_peer(const View& view, const QueueEntry& entry,
                                                      const JobView& job) {
  if (job.forwards > most_moves_infeasible(peers_.count())) return nullptr;
  const RemotePartition* best = nullptr;
  const auto rank = [&](const RemotePartition& p) {
    return std::tuple(!can_start(view, p, entry, job), per_mille(p.waiting_gpus, p.gpus),
                      p.distance);
  };
  for (const RemotePartition& peer : peers_.all()) {
    if (was_offered(job, peer.agent) || !could_hold(view, peer, entry, job)) continue;
    if (best == nullptr || rank(peer) < rank(*best)) best = &peer;
  }
  return best;
}

void OverflowRouting::forward(const View& view, const RemotePartition& peer, const JobView& job,
                              std::vector<Decision>& out) {
  peers_.forward(view, job, peer.agent, need_of(*job.spec, view.topology), out);
  ++state_;
  measure();
}

void OverflowRouting::forward_to_emptier(const View& view, const QueueIndex& index,
                                         QueueMarks& taken, std::vector<Decision>& out) {
  const auto queue = index.queue();
  std::uint64_t free = view.gpus.free_count();
  const std::uint64_t all = view.gpus.gpus().size();
  for (std::size_t i = 0; i < queue.size() && out.size() < kForwardsPerCall; ++i) {
    const QueueEntry& entry = queue[i];
    if (entry.since != view.now || !starts_elsewhere(entry)) continue;
    const JobView& job = index.job(entry);
    if (job.blocked || job.forwards > 0) continue;
    const RemotePartition* peer = best_peer(view, entry, job);
    // 5 % apart: below that the message costs more than the balance gains.
    if (peer != nullptr && per_mille(peer->free, peer->gpus) > per_mille(free, all) + 50) {
      forward(view, *peer, job, out);
      taken.mark(i);
    } else {
      free -= std::min<std::uint64_t>(free, entry.gpus);
    }
  }
}

/// GPUs here and elsewhere. Owners offer whole workers, so room in pieces counts for workers of one
/// GPU alone where GPUs are counted, and else for what asks for more than GPUs, or can never have
/// whole servers.
std::pair<std::uint64_t, std::uint64_t> OverflowRouting::room_to_spread(const View& view,
                                                                        const QueueEntry& entry,
                                                                        const JobView& job,
                                                                        const Trial& local) {
  const auto in_workers = [&]() -> std::pair<std::uint64_t, std::uint64_t> {
    const RemoteNeed need = need_of(*job.spec, view.topology);
    std::uint64_t elsewhere = 0;
    for (const RemotePartition& peer : peers_.all())
      elsewhere += peers_.servers(view, peer).gpus(need);
    if (elsewhere == 0) return {0, 0};
    return {place_workers(local.gpus(), entry.gpus, job.spec->gpus_per_worker, need.each).size(),
            elsewhere};
  };
  if (entry.needy) return in_workers();
  if (fit_ == Fit::count && job.spec->gpus_per_worker == 1)
    return {local.free_count(), free_elsewhere_};
  const std::uint64_t whole =
      std::uint64_t{server_} *
      local.gpus().whole_free_servers(server_, entry.gpus / server_ + 1).size();
  const bool enough = local.free_count() + free_elsewhere_ >= entry.gpus;
  if (enough && whole + whole_elsewhere_ < entry.gpus && entry.infeasible &&
      never_whole(view, peers_.all(), server_, entry.gpus))
    return in_workers();
  return {whole, whole_elsewhere_};
}

bool OverflowRouting::try_spread(const View& view, const QueueEntry& entry, const JobView& job,
                                 Trial& local, std::vector<Decision>& out) {
  if (!gangs_.may_ask(entry)) return false;
  if (entry.typed && !one_type_) return try_spread_typed(view, entry, job, local, out);
  const auto [here, elsewhere] = room_to_spread(view, entry, job, local);
  if (here + elsewhere < entry.gpus) return false;
  Placement share = place_workers(
      local.gpus(), static_cast<std::uint32_t>(std::min<std::uint64_t>(here, entry.gpus)),
      job.spec->gpus_per_worker, demand_of(*job.spec));
  gangs_.ask(view, entry, job, std::move(share), std::nullopt, local, out);
  return true;
}

/// All of one type, which bids are asked for: that of those it may have of which there is most.
bool OverflowRouting::try_spread_typed(const View& view, const QueueEntry& entry,
                                       const JobView& job, Trial& local,
                                       std::vector<Decision>& out) {
  const RemoteNeed need = need_of(*job.spec, view.topology);
  std::optional<GpuTypeId> best;
  std::uint64_t most = 0;
  for (const GpuTypeId type : need.types) {
    std::uint64_t room = workers_of_type(local.gpus(), type, entry.gpus, *job.spec).size();
    std::uint64_t elsewhere = 0;
    for (const RemotePartition& peer : peers_.all())
      elsewhere += peers_.servers(view, peer).gpus(need, type);
    room += elsewhere;
    if (elsewhere > 0 && room >= entry.gpus && room > most) best = type, most = room;
  }
  if (!best) return false;
  Placement share = workers_of_type(local.gpus(), *best, entry.gpus, *job.spec);
  gangs_.ask(view, entry, job, std::move(share), best, local, out);
  return true;
}

/// It may have GPUs of several partitions, if no partition can hold it or it has waited long
/// enough.
bool OverflowRouting::asks_around(const View& view, const QueueEntry& entry) const {
  // A particular one may be too large for a server that has GPUs enough.
  if (entry.gpus <= server_ && !(particular(entry) && entry.infeasible)) return false;
  return entry.infeasible || view.now - entry.submitted >= kPatience;
}

void OverflowRouting::decide(const View& view, const Shape& shape, const QueueIndex& index,
                             QueueMarks& taken, Trial& local, std::vector<Decision>& out) {
  const auto queue = index.queue();
  std::uint32_t forwards = 0;
  bool spread = false;
  bool head = true;
  const bool may_spread = free_elsewhere_ > 0;
  if (most_ > 0 || index.infeasible() > 0 || may_spread) {
    const bool only_head =
        strict_ && most_ == 0 && most_particular_ == 0 && index.infeasible() == 0;
    for (std::size_t i = 0; i < queue.size() && forwards < kForwardsPerCall; ++i) {
      const QueueEntry& entry = queue[i];
      if (taken[i]) continue;
      if (only_head && !head) break;
      const bool elsewhere = !entry.infeasible && starts_elsewhere(entry);
      const bool ask_around =
          may_spread && !spread && (head || !strict_) && asks_around(view, entry);
      if (!elsewhere && !entry.infeasible && !ask_around && !head) continue;
      const JobView& job = index.job(entry);
      if (job.blocked) continue;
      head = false;
      if (elsewhere || entry.infeasible) {
        const RemotePartition* peer = nullptr;
        if (may_move(view, entry, job)) {
          peer = entry.infeasible ? feasible_peer(view, entry, job) : best_peer(view, entry, job);
        } else {
          moves_from_ = std::min(moves_from_, starling::moves_from(entry, job));
        }
        if (peer != nullptr) {
          forward(view, *peer, job, out);
          taken.mark(i);
          ++forwards;
          continue;
        }
      }
      if (ask_around && try_spread(view, entry, job, local, out)) {
        taken.mark(i);
        spread = true;
      }
    }
  }
  if (forwards == 0) balance_queues(view, shape, index, taken, out);
}

void OverflowRouting::balance_queues(const View& view, const Shape& shape, const QueueIndex& index,
                                     const QueueMarks& taken, std::vector<Decision>& out) {
  const auto pressure = [](std::uint64_t waiting, std::uint64_t gpus) {
    return per_mille(waiting, gpus);
  };
  const RemotePartition* calmest = nullptr;
  const auto rank = [&](const RemotePartition& p) {
    return std::tuple(pressure(p.waiting_gpus, p.gpus), p.distance);
  };
  for (const RemotePartition& peer : peers_.all()) {
    if (calmest == nullptr || rank(peer) < rank(*calmest)) calmest = &peer;
  }
  // A quarter of a partition's GPUs: less is within what one departure changes.
  constexpr std::uint64_t kApart = 250;
  const auto worth_it = [&](std::uint64_t gpus) {
    const std::uint64_t here = index.total_gpus() - std::min(index.total_gpus(), gpus);
    return pressure(here, shape.gpus) >
           pressure(calmest->waiting_gpus + gpus, calmest->gpus) + kApart;
  };
  if (calmest == nullptr || !worth_it(1)) return;
  const auto queue = index.queue();
  constexpr std::size_t kLook = 16;
  for (std::size_t back = 0; back < std::min(queue.size(), kLook); ++back) {
    const std::size_t i = queue.size() - 1 - back;
    const QueueEntry& entry = queue[i];
    if (taken[i] || entry.infeasible) continue;
    if (entry.gpus > calmest->gpus || !worth_it(entry.gpus)) continue;
    const JobView& job = index.job(entry);
    if (job.blocked || job.forwards > 0 || is_out(view, job, *calmest)) continue;
    if (!could_hold(view, *calmest, entry, job)) continue;
    forward(view, *calmest, job, out);
    return;
  }
}

}  // namespace starling
