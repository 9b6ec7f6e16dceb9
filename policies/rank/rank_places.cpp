// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank_places.h"

#include <algorithm>

#include "interference/profile.h"
#include "policies/rank/rank_curves.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// Part of its GPUs by which a place must be better than a fuller one.
constexpr double kBetter = 0.01;

JobProfile profile_at(const JobSpec& job, const Placement& placement, const Allocation& how) {
  return profile_of(job, static_cast<std::uint32_t>(placement.size()), how);
}

}  // namespace

void RankPlaces::begin(const Occupancy& gpus, const Shape& shape) {
  shape_ = shape;
  gpus_ = &mirror_.of(gpus);
  on_.resize(gpus.servers().size());
  for (auto& there : on_) there.clear();
  taken_.clear();
  looks_ = 0;
}

void RankPlaces::settle(const JobSpec* job, const Placement& placement, const Allocation& how) {
  const std::uint32_t first = gpus_->servers().first;
  std::uint32_t last = ~0U;
  for (const GpuId gpu : placement) {
    const std::uint32_t server = gpus_->topology().server_of(gpu).value - first;
    if (server == last || server >= on_.size()) continue;
    on_[server].push_back({job, &placement, how});
    last = server;
  }
}

void RankPlaces::take(const JobSpec* job, const Placement& placement, const Allocation& how) {
  gpus_->take(placement, demand_of(*job));
  settle(job, taken_.emplace_back(placement), how);
}

void RankPlaces::give_back(const JobSpec* job, const Placement& placement) {
  gpus_->give_back(placement, demand_of(*job));
  for (const GpuId gpu : placement) {
    const std::uint32_t server = gpus_->topology().server_of(gpu).value - gpus_->servers().first;
    if (server < on_.size())
      std::erase_if(on_[server], [&](const There& there) { return there.job == job; });
  }
}

std::vector<std::uint32_t> RankPlaces::free_by_type() {
  free_.sync(*gpus_);
  std::vector<TypeRoom> rooms;
  free_.rooms(rooms);
  std::vector<std::uint32_t> free(gpus_->topology().gpu_types().size(), 0);
  for (const TypeRoom& room : rooms) free[room.type.value] = room.free;
  return free;
}

std::uint32_t RankPlaces::kind_of(GpuTypeId type) const {
  for (std::uint32_t kind = 1; kind < free_.kinds(); ++kind) {
    if (free_.type(kind) == type) return kind;
  }
  return 0;
}

double RankPlaces::pace(const SpeedModel& speed, const JobSpec& job, const Placement& placement) {
  return progress_rate(speed, profile_at(job, placement, {}), placement, {}, {});
}

/// Speeds in GPUs: what the job has there, less what those on the server lose.
double RankPlaces::worth_on(const SpeedModel& speed, const JobProfile& profile,
                            const Placement& placement, ServerId server) const {
  const auto& there = on_[server.value - gpus_->servers().first];
  Neighbours beside;
  for (const There& other : there)
    beside.push_back({profile_at(*other.job, *other.placement, other.how), *other.placement});
  const auto speed_of = [&](const Neighbour& of, const Neighbours& others) {
    return speed.speed(of.job, of.placement, others).relative *
           static_cast<double>(of.placement.size());
  };
  const Neighbour self{profile, placement};
  double worth = speed_of(self, beside);
  for (std::size_t i = 0; i < there.size(); ++i) {
    Neighbours others = beside;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double without = speed_of(beside[i], others);
    others.push_back(self);
    worth -= without - speed_of(beside[i], others);
  }
  return worth;
}

std::optional<Placement> RankPlaces::on_one_server(const SpeedModel& speed, const JobSpec& job,
                                                   std::uint32_t gpus, GpuTypeId type) {
  const std::uint32_t kind = kind_of(type), first = gpus_->servers().first;
  const Demand each = demand_of(job);
  const JobProfile profile = profile_of(job, gpus);
  std::optional<Placement> best;
  double most = 0;
  std::uint32_t tried = 0;
  bool empty_seen = false;
  for (std::uint32_t free = gpus; free <= free_.largest_server(kind); ++free) {
    const BitmapTree& servers = free_.servers_with(kind, free);
    for (std::uint32_t s = servers.next(0); s < servers.size(); s = servers.next(s + 1)) {
      const ServerId server{first + s};
      if (!allows(job, gpus_->topology(), server) || gpus_->free_on(server, each) < gpus) continue;
      // Of those on which no job is one is as good as another.
      const bool empty = on_[s].empty() && free == gpus_->topology().server(server).gpus.size();
      if (empty && std::exchange(empty_seen, true)) continue;
      Placement place =
          FreeServers::on_islands(gpus_->topology(), gpus_->free_gpus(server, free), gpus);
      std::ranges::sort(place);
      if (looks_ >= kLooks) return best ? best : place;
      ++looks_;
      const double worth = worth_on(speed, profile, place, server);
      if (!best || worth > most + kBetter * gpus) most = worth, best = std::move(place);
      if (most >= gpus * (1 - kBetter) || ++tried == kTried) return best;
    }
  }
  return best;
}

std::optional<Placement> RankPlaces::find(const SpeedModel& speed, const JobSpec& job,
                                          std::uint32_t workers, GpuTypeId type) {
  free_.sync(*gpus_);
  const std::uint32_t gpus = workers * job.gpus_per_worker;
  if (gpus <= free_.largest_server(kind_of(type))) {
    if (auto found = on_one_server(speed, job, gpus, type)) return found;
  }
  auto best = place_on_type(*gpus_, shape_, job, workers, type);
  if (!best || demand_of(job).any()) return best;
  auto near = free_.in_rack(kind_of(type), gpus, job.gpus_per_worker);
  if (near && pace(speed, job, *near) > pace(speed, job, *best) * (1 + kBetter)) return near;
  return best;
}

}  // namespace starling
