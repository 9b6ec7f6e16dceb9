// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/cooperate.h"

#include <algorithm>
#include <tuple>

#include "base/hash.h"

namespace starling {
namespace {

/// 2^(n-1) s, at most `most`; 0 for n = 0.
Duration backoff(std::uint32_t n, Duration most) {
  if (n == 0) return Duration::zero();
  return std::min<Duration>(std::chrono::seconds(1LL << std::min(n - 1, 20U)), most);
}

bool was_offered(const JobView& job, AgentId to) {
  return std::ranges::find(job.offered, to) != job.offered.end();
}

std::uint64_t per_mille(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : part * 1000 / whole;
}

}  // namespace

Duration forward_backoff(std::uint32_t n) { return backoff(n, std::chrono::minutes(10)); }

Duration until_next_round(JobId job, std::uint32_t failed) {
  const Duration wait = backoff(failed + 1, std::chrono::minutes(30));
  return wait + wait / 1024 * static_cast<std::int64_t>(mix64(job.lo ^ mix64(failed)) & 1023U);
}

bool Cooperation::begin(const View& view, const Shape& shape) {
  rooms_.clear();
  ++state_;
  if (view.others.empty()) return false;
  server_ = std::max(shape.server, 1U);
  one_type_ = view.topology.gpu_types().size() <= 1;
  std::uint32_t flock = view.me.value + 1;
  for (const RemoteDigest& d : view.others) flock = std::max(flock, d.agent.value + 1);
  for (const RemoteDigest& d : view.others) {
    if (d.agent == view.me || d.gpus == 0 || view.now - d.at > kDigestFresh) continue;
    const std::uint32_t turn = (d.agent.value + flock - view.me.value) % flock;
    rooms_.push_back({d.agent, d.gpus, d.free, d.largest_free_server, d.whole_free_servers,
                      d.waiting, d.waiting_gpus, d.free, turn, &d});
  }
  std::erase_if(pledges_, [&](const Pledge& pledge) {
    if (view.now - pledge.at > kPledge) return true;
    const auto room = std::find_if(rooms_.begin(), rooms_.end(),
                                   [&](const Room& r) { return r.agent == pledge.agent; });
    return room == rooms_.end() || room->digest_free != pledge.free ||
           room->waiting != pledge.waiting;
  });
  for (const Pledge& pledge : pledges_) {
    for (Room& room : rooms_) {
      if (room.agent == pledge.agent) use(room, pledge.need);
    }
  }
  measure();
  return !rooms_.empty();
}

void Cooperation::measure() {
  most_ = 0;
  most_needy_ = 0;
  free_elsewhere_ = 0;
  whole_elsewhere_ = 0;
  for (const Room& room : rooms_) {
    const std::uint32_t servers = room.whole * server_;
    free_elsewhere_ += room.free;
    whole_elsewhere_ += servers;
    if (strict_ && room.waiting > 0) continue;
    most_needy_ = std::max(most_needy_, room.free);
    most_ = std::max(most_, fit_ == Fit::count ? room.free : std::max(room.largest, servers));
  }
}

/// It may, as far as its GPUs go. Which types are free is known for those who ask for more.
bool Cooperation::starts_elsewhere(const QueueEntry& entry) const {
  if (entry.needy) return entry.gpus <= most_needy_;
  return entry.gpus <= most_ && (!entry.typed || one_type_);
}

bool Cooperation::can_start(const Room& room, std::uint32_t gpus) const {
  if (strict_ && room.waiting > 0) return false;
  if (fit_ == Fit::count) return gpus <= room.free;
  if (gpus <= room.largest) return true;
  return gpus > server_ && (gpus + server_ - 1) / server_ <= room.whole;
}

RemoteRooms& Cooperation::servers_of(const View& view, Room& room) {
  if (room.servers.known()) return room.servers;
  room.servers = RemoteRooms(view.topology, *room.digest);
  for (const Pledge& pledge : pledges_) {
    if (pledge.agent == room.agent) room.servers.take(pledge.need);
  }
  return room.servers;
}

bool Cooperation::can_start(const View& view, Room& room, const QueueEntry& entry,
                            const JobView& job) {
  if (!entry.needy) return can_start(room, entry.gpus);
  if (entry.gpus > room.free || (strict_ && room.waiting > 0)) return false;
  const Shape& shape =
      capacity_.of(view.topology, *room.digest, entry.look, *job.spec, needy_fit_).shape;
  return servers_of(view, room).start(need_of(*job.spec, view.topology), needy_fit_, shape);
}

bool Cooperation::could_hold(const View& view, const Room& room, const QueueEntry& entry,
                             const JobView& job) {
  if (room.gpus < entry.gpus) return false;
  return !entry.needy ||
         capacity_.of(view.topology, *room.digest, entry.look, *job.spec, needy_fit_).holds;
}

void Cooperation::use(Room& room, const RemoteNeed& need) const {
  const std::uint32_t gpus = need.gpus;
  if (room.servers.known()) room.servers.take(need);
  room.waiting_gpus += gpus;
  room.free -= std::min(room.free, gpus);
  if (gpus > server_) {
    room.whole -= std::min(room.whole, (gpus + server_ - 1) / server_);
  } else if (room.largest < server_ || room.whole == 0) {
    room.largest -= std::min(room.largest, gpus);
  } else {
    --room.whole;
  }
  if (room.whole == 0 && room.largest >= server_) room.largest = server_ - std::min(server_, gpus);
  room.largest = std::min(room.largest, room.free);
}

Cooperation::Room* Cooperation::best_room(const View& view, const QueueEntry& entry,
                                          const JobView& job) {
  if (entry.needy) {
    if (entry.look >= roomless_.size()) roomless_.resize(entry.look + std::size_t{1});
    if (roomless_[entry.look] == state_) return nullptr;
  }
  Room* best = nullptr;
  const auto rank = [](const Room& r) {
    return std::tuple(r.waiting > 0, 1000 - per_mille(r.free, r.gpus), r.turn);
  };
  for (Room& room : rooms_) {
    if (was_offered(job, room.agent) || !can_start(view, room, entry, job)) continue;
    if (best == nullptr || rank(room) < rank(*best)) best = &room;
  }
  // A job that has been nowhere speaks for all of its look.
  if (entry.needy && best == nullptr && job.offered.empty()) roomless_[entry.look] = state_;
  return best;
}

Cooperation::Room* Cooperation::home_for(const View& view, const QueueEntry& entry,
                                         const JobView& job) {
  if (job.forwards > 2 * rooms_.size()) return nullptr;
  Room* best = nullptr;
  if (entry.typed && !one_type_ && !entry.needy) {
    // Digests do not say which GPU types a partition has, so the job visits each in turn.
    if (job.forwards >= view.others.size()) return nullptr;
    for (Room& room : rooms_) {
      if (was_offered(job, room.agent)) continue;
      if (best == nullptr || room.turn < best->turn) best = &room;
    }
    return best;
  }
  const auto rank = [&](Room& r) {
    return std::tuple(!can_start(view, r, entry, job), per_mille(r.waiting_gpus, r.gpus), r.turn);
  };
  for (Room& room : rooms_) {
    if (was_offered(job, room.agent) || !could_hold(view, room, entry, job)) continue;
    if (best == nullptr || rank(room) < rank(*best)) best = &room;
  }
  return best;
}

bool Cooperation::may_move(const View& view, const QueueEntry& entry, const JobView& job) const {
  return view.now - entry.since >= forward_backoff(job.forwards);
}

void Cooperation::forward(const View& view, Room& room, const JobView& job,
                          std::vector<Decision>& out) {
  out.emplace_back(Forward{job.spec->id, room.agent});
  RemoteNeed need = need_of(*job.spec, view.topology);
  use(room, need);
  pledges_.push_back({room.agent, std::move(need), room.digest_free, room.waiting, view.now});
  ++state_;
  measure();
}

void Cooperation::forward_to_emptier(const View& view, const QueueIndex& index, QueueMarks& taken,
                                     std::vector<Decision>& out) {
  const auto queue = index.queue();
  std::uint64_t free = view.gpus.free_count();
  const std::uint64_t all = view.gpus.gpus().size();
  for (std::size_t i = 0; i < queue.size() && out.size() < kForwardsPerCall; ++i) {
    const QueueEntry& entry = queue[i];
    if (entry.since != view.now || !starts_elsewhere(entry)) continue;
    const JobView& job = index.job(entry);
    if (job.blocked || job.forwards > 0) continue;
    Room* room = best_room(view, entry, job);
    // 5 % apart: below that the message costs more than the balance gains.
    if (room != nullptr && per_mille(room->free, room->gpus) > per_mille(free, all) + 50) {
      forward(view, *room, job, out);
      taken.mark(i);
    } else {
      free -= std::min<std::uint64_t>(free, entry.gpus);
    }
  }
}

/// GPUs here and elsewhere. Owners offer whole workers, so room in pieces counts for workers of one
/// GPU alone.
std::pair<std::uint64_t, std::uint64_t> Cooperation::room_to_spread(const View& view,
                                                                    const QueueEntry& entry,
                                                                    const JobView& job,
                                                                    const Trial& local) {
  if (entry.needy) {
    const RemoteNeed need = need_of(*job.spec, view.topology);
    std::uint64_t elsewhere = 0;
    for (Room& room : rooms_) elsewhere += servers_of(view, room).gpus(need);
    if (elsewhere == 0) return {0, 0};
    return {place_workers(local.gpus(), entry.gpus, job.spec->gpus_per_worker, need.each).size(),
            elsewhere};
  }
  if (fit_ == Fit::count && job.spec->gpus_per_worker == 1)
    return {local.free_count(), free_elsewhere_};
  const std::size_t whole =
      local.gpus().whole_free_servers(server_, entry.gpus / server_ + 1).size();
  return {std::uint64_t{server_} * whole, whole_elsewhere_};
}

bool Cooperation::try_spread(const View& view, const QueueEntry& entry, const JobView& job,
                             Trial& local, std::vector<Decision>& out) {
  const auto tried = std::find_if(spreads_.begin(), spreads_.end(),
                                  [&](const Tried& t) { return t.order == entry.order; });
  if (tried != spreads_.end()) return false;
  const auto [here, elsewhere] = room_to_spread(view, entry, job, local);
  if (here + elsewhere < entry.gpus) return false;
  // Refusals count against the job's limit of failed rounds, so asking around slows down.
  spreads_.push_back(
      {entry.order, later(view.now, until_next_round(job.spec->id, job.failed_rounds))});
  Placement share = place_workers(
      local.gpus(), static_cast<std::uint32_t>(std::min<std::uint64_t>(here, entry.gpus)),
      job.spec->gpus_per_worker, demand_of(*job.spec));
  if (!share.empty()) local.take(share, demand_of(*job.spec));
  out.emplace_back(Spread{job.spec->id, std::move(share)});
  return true;
}

void Cooperation::decide(const View& view, const Shape& shape, const QueueIndex& index,
                         QueueMarks& taken, Trial& local, std::vector<Decision>& out) {
  std::erase_if(spreads_, [&](const Tried& tried) { return tried.again <= view.now; });
  const auto queue = index.queue();
  std::uint32_t forwards = 0;
  bool spread = false;
  bool head = true;
  const bool may_spread = free_elsewhere_ > 0;
  if (most_ > 0 || index.homeless() > 0 || may_spread) {
    const bool only_head = strict_ && most_ == 0 && most_needy_ == 0 && index.homeless() == 0;
    for (std::size_t i = 0; i < queue.size() && forwards < kForwardsPerCall; ++i) {
      const QueueEntry& entry = queue[i];
      if (taken[i]) continue;
      if (only_head && !head) break;
      const bool elsewhere = !entry.homeless && starts_elsewhere(entry);
      const bool waited = view.now - entry.submitted >= kPatience;
      // One that needs much beside its GPUs may be too large for a server that has enough of those.
      const bool large = entry.gpus > server_ || (entry.needy && entry.homeless);
      const bool ask_around = may_spread && !spread && (!entry.typed || one_type_) && large &&
                              (entry.homeless || waited) && (head || !strict_);
      if (!elsewhere && !entry.homeless && !ask_around && !head) continue;
      const JobView& job = index.job(entry);
      if (job.blocked) continue;
      head = false;
      if (elsewhere || entry.homeless) {
        Room* room = nullptr;
        if (may_move(view, entry, job)) {
          room = entry.homeless ? home_for(view, entry, job) : best_room(view, entry, job);
        }
        if (room != nullptr) {
          forward(view, *room, job, out);
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
  if (forwards == 0) give_away_last(view, shape, index, taken, out);
}

void Cooperation::give_away_last(const View& view, const Shape& shape, const QueueIndex& index,
                                 const QueueMarks& taken, std::vector<Decision>& out) {
  const auto pressure = [](std::uint64_t waiting, std::uint64_t gpus) {
    return per_mille(waiting, gpus);
  };
  Room* calmest = nullptr;
  const auto rank = [&](const Room& r) {
    return std::tuple(pressure(r.waiting_gpus, r.gpus), r.turn);
  };
  for (Room& room : rooms_) {
    if (calmest == nullptr || rank(room) < rank(*calmest)) calmest = &room;
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
    if (taken[i] || entry.homeless || (entry.typed && !one_type_)) continue;
    if (entry.gpus > calmest->gpus || !worth_it(entry.gpus)) continue;
    const JobView& job = index.job(entry);
    if (job.blocked || job.forwards > 0 || was_offered(job, calmest->agent)) continue;
    if (!could_hold(view, *calmest, entry, job)) continue;
    forward(view, *calmest, job, out);
    return;
  }
}

}  // namespace starling
