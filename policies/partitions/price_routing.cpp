// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/price_routing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "interference/profile.h"
#include "policies/partitions/moves.h"

namespace starling {
namespace {

/// Below a price of 1 every job has what it wants, but the emptier partition has more whole
/// servers.
constexpr double kTilt = 0.05;
/// An elastic job starts wherever there is room, on a slow type if need be, and stays there for a
/// while: a type that has no room for the size it asks for costs so many times more.
constexpr double kNoRoom = 2;
/// Free GPUs must cost so much more before they are left free.
constexpr double kDearer = 0.25;
/// The price of a type of which no GPU is in service.
constexpr double kOutOfService = 1e6;
/// Jobs that differ in what speeds and rooms depend on; with more all is asked anew.
constexpr std::size_t kMostLooks = 4096;
/// Part of its cost that a newcomer must save elsewhere.
constexpr double kWorthIt = 0.01;

}  // namespace

double PriceRouting::cost_of(double price, double speed) {
  return speed > 0 ? (std::max(price, 1.0) + kTilt * price) / speed : kNowhere;
}

std::uint32_t PriceRouting::most_gpus(const JobSpec& job) const {
  return elastic_ && job.elastic() ? job.max_workers * job.gpus_per_worker : job.gpus();
}

std::uint32_t PriceRouting::least_gpus(const JobSpec& job) const {
  return elastic_ && job.elastic() ? std::max(job.min_workers, 1U) * job.gpus_per_worker
                                   : job.gpus();
}

void PriceRouting::learn(const View& view) {
  if (!types_.empty()) return;
  for (std::uint32_t s = view.gpus.servers().first; s < view.gpus.servers().last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    auto type = std::ranges::find(types_, server.gpu_type, &Type::id);
    if (type == types_.end()) type = types_.insert(type, {server.gpu_type});
    type->gpus += server.gpus.size();
  }
  std::ranges::sort(types_, {}, &Type::id);
}

/// A GPU that is out of service counts for no job: one that waited for it would wait for ever.
void PriceRouting::count_in_service(const View& view) {
  for (Type& type : types_) type.in_service = type.gpus;
  gpus_ = view.gpus.gpus().size();
  const std::uint32_t out = gpus_ - view.gpus.free_count() - view.gpus.busy_count();
  if (out == 0) return;
  gpus_ -= out;
  for (std::uint32_t s = view.gpus.servers().first; s < view.gpus.servers().last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    const auto type = std::ranges::find(types_, server.gpu_type, &Type::id);
    if (type == types_.end()) continue;
    for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g) {
      const bool idle = view.gpus.is_blocked(GpuId{g}) && view.gpus.tenants(GpuId{g}) == 0;
      type->in_service -= idle ? 1 : 0;
    }
  }
}

/// What is wanted here.
void PriceRouting::count(const View& view) {
  free_.sync(view.gpus);
  free_.rooms(rooms_);
  count_in_service(view);
  for (Type& type : types_) {
    const auto room = std::ranges::find(rooms_, type.id, &TypeRoom::type);
    type.free = room == rooms_.end() ? 0 : room->free;
    type.wanted = type.in_service - std::min(type.in_service, type.free);
  }
  waiting_ = 0;
  for (const JobView& job : view.waiting) waiting_ += most_gpus(*job.spec);
  if (!elastic_) return;
  for (const JobView& job : view.running) {
    if (job.placement.empty() || !view.gpus.gpus().contains(job.placement.front().value)) continue;
    const auto type =
        std::ranges::find(types_, view.topology.type_of(job.placement.front()), &Type::id);
    if (type == types_.end()) continue;
    const std::uint32_t most = most_gpus(*job.spec);
    const auto has = static_cast<std::uint32_t>(job.placement.size());
    type->wanted += most - std::min(most, has);
  }
}

double PriceRouting::price_of(const Type& type) const {
  if (type.in_service == 0) return kOutOfService;
  return type.wanted / type.in_service + waiting_ / gpus_;
}

std::uint32_t PriceRouting::look_of(const JobSpec& job) {
  const Look look{job.model,
                  job.workers,
                  job.gpus_per_worker,
                  job.cpus_per_worker,
                  job.memory_gib_per_worker,
                  job.gpu_types,
                  job.run.max_servers,
                  job.run.server_cpus,
                  job.run.batch};
  return looks_.try_emplace(look, static_cast<std::uint32_t>(looks_.size())).first->second;
}

/// Of what users may write in a job there is no end.
void PriceRouting::bound_looks() {
  if (looks_.size() < kMostLooks) return;
  looks_.clear();
  speeds_.forget();
  peers_.capacity() = {};
}

double PriceRouting::speed_of(const View& view, const JobSpec& job, GpuTypeId type) {
  PlacementRequest request;
  request.spec = &job;
  request.gpus = job.gpus();
  request.gpus_per_worker = job.gpus_per_worker;
  request.look = look_of(job);
  const double speed = speeds_.alone(view, request, profile_of(job), type);
  return speed_power_ ? std::pow(speed, *speed_power_) : speed;
}

double PriceRouting::without_room(const JobSpec& job, std::uint32_t free) const {
  return elastic_ && free < job.gpus() ? kNoRoom : 1;
}

PriceRouting::Place PriceRouting::here(const View& view, const JobSpec& job, bool counted) {
  Place best{view.me, kNowhere, false};
  for (const Type& type : types_) {
    if (type.in_service < least_gpus(job)) continue;
    const double own = counted ? 0 : static_cast<double>(most_gpus(job)) / type.in_service;
    const double cost =
        cost_of(price_of(type) + own, speed_of(view, job, type.id)) * without_room(job, type.free);
    if (cost < best.cost) best = {view.me, cost, type.free >= least_gpus(job)};
  }
  return best;
}

double PriceRouting::cost_on(const View& view, const JobSpec& job, GpuTypeId type) {
  const auto on = std::ranges::find(types_, type, &Type::id);
  return on == types_.end() ? kNowhere : cost_of(price_of(*on), speed_of(view, job, type));
}

PriceRouting::Place PriceRouting::there(const View& view, const RemotePartition& peer,
                                        const JobSpec& job) {
  Place best{peer.agent, kNowhere, false};
  const std::uint32_t least = least_gpus(job);
  std::optional<RemoteNeed> need;  // only of those who ask for CPUs or memory
  if (demand_of(job).any()) need = need_of(job, view.topology);
  for (const RemoteType& type : peers_.types(peer)) {
    const std::uint64_t most =
        need ? peers_.capacity().gpus(view.topology, *peer.digest, look_of(job), *need, type.type)
             : type.gpus;
    if (most < least) continue;
    const double price = type.price + static_cast<double>(most_gpus(job)) / type.gpus;
    const double cost =
        cost_of(price, speed_of(view, job, type.type)) * without_room(job, type.free);
    if (cost < best.cost) best = {peer.agent, cost, type.free >= least};
  }
  return best;
}

PriceRouting::Place PriceRouting::elsewhere(const View& view, const JobView& job) {
  Place best{view.me, kNowhere, false};
  for (const RemotePartition& peer : peers_.all()) {
    if (!peer.priced || was_offered(job, peer.agent)) continue;
    const Place place = there(view, peer, *job.spec);
    if (place.cost < best.cost) best = place;
  }
  return best;
}

void PriceRouting::forward(const View& view, const JobView& job, AgentId to,
                           std::vector<Decision>& out) {
  RemoteNeed need = need_of(*job.spec, view.topology);
  need.gpus = most_gpus(*job.spec);
  peers_.forward(view, job, to, std::move(need), out);
}

/// It has been nowhere else, or was stopped to go.
bool PriceRouting::is_new(const JobView& job) {
  const auto mover = std::ranges::find(movers_, job.spec->id);
  if (mover == movers_.end()) return job.order > newest_ && job.forwards == 0;
  movers_.erase(mover);
  return true;
}

void PriceRouting::find_newcomers(const View& view) {
  fresh_.clear();
  std::uint64_t newest = newest_;
  for (const JobView& job : view.waiting) {
    newest = std::max(newest, job.order);
    if (!job.blocked && is_new(job)) fresh_.push_back(&job);
  }
  newest_ = newest;
}

const View& PriceRouting::route(const View& view, std::vector<Decision>& out) {
  routed_at_ = view.now;
  routed_by_ = view.others.data();
  if (view.others.empty()) {  // no partition to go to, and none to tell
    together_ = false;
    prices_.clear();
    if (!view.waiting.empty()) newest_ = std::max(newest_, view.waiting.back().order);
    return view;
  }
  learn(view);
  bound_looks();
  constexpr std::uint32_t kAnyServer = 1;  // whole servers do not count here
  together_ = peers_.begin(view, kAnyServer);
  find_newcomers(view);
  count(view);
  // What is wanted by newcomers counts where they have found their place.
  for (const JobView* job : fresh_) waiting_ -= most_gpus(*job->spec);
  const std::size_t before = out.size();
  for (const JobView* job : fresh_) {
    const bool may = together_ && out.size() - before < kForwardsPerCall;
    const Place go = may ? elsewhere(view, *job) : Place{view.me, kNowhere, false};
    if (go.cost < here(view, *job->spec, false).cost * (1 - kWorthIt)) {
      forward(view, *job, go.agent, out);
    } else {
      waiting_ += most_gpus(*job->spec);
    }
  }
  prices_.clear();
  for (const Type& type : types_) prices_.push_back({type.id, static_cast<float>(price_of(type))});
  if (out.size() == before) return view;
  const auto leaves = [&](const JobView& job) {
    return std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                       [&](const Decision& d) { return std::get<Forward>(d).job == job.spec->id; });
  };
  kept_.clear();
  std::ranges::remove_copy_if(view.waiting, std::back_inserter(kept_), leaves);
  without_.emplace(view).waiting = kept_;
  without_->waiting_changes = nullptr;  // which tells of all that wait
  return *without_;
}

bool PriceRouting::costs_more(const View& view, const JobView& job, AgentId to) {
  STARLING_CHECK(was_routed(view));
  if (!together_) return false;
  const auto peer = std::ranges::find(peers_.all(), to, &RemotePartition::agent);
  if (peer == peers_.all().end() || !peer->priced) return false;
  double now = kNowhere;  // on GPUs that are free, whatever others want of the type
  for (const RemoteType& type : peers_.types(*peer)) {
    if (type.free < least_gpus(*job.spec)) continue;
    now = std::min(now, cost_of(std::min(type.price, 1.0), speed_of(view, *job.spec, type.type)));
  }
  if (now == kNowhere) now = there(view, *peer, *job.spec).cost;
  return now > here(view, *job.spec, true).cost * (1 + kDearer);
}

}  // namespace starling
