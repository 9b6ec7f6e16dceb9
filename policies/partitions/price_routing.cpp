// SPDX-License-Identifier: Apache-2.0
#include "policies/partitions/price_routing.h"

#include <algorithm>
#include <limits>

#include "interference/profile.h"
#include "policies/partitions/moves.h"

namespace starling {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();
/// Below a price of 1 everybody has what he wants, but the emptier partition has more whole servers.
constexpr double kTilt = 0.05;
/// Part of its cost that a newcomer must save elsewhere.
constexpr double kWorthIt = 0.01;
/// The same of a job that has waited: prices change.
constexpr double kWorthMoving = 0.25;

double cost_of(double price, double speed) {
  return speed > 0 ? (std::max(price, 1.0) + kTilt * price) / speed : kNowhere;
}

}  // namespace

std::uint32_t PriceRouting::most_gpus(const JobSpec& job) const {
  return elastic_ && job.elastic() ? job.max_workers * job.gpus_per_worker : job.gpus();
}

std::uint32_t PriceRouting::least_gpus(const JobSpec& job) const {
  return elastic_ && job.elastic() ? std::max(job.min_workers, 1U) * job.gpus_per_worker
                                   : job.gpus();
}

void PriceRouting::learn(const View& view) {
  if (!types_.empty()) return;
  gpus_ = view.gpus.gpus().size();
  for (std::uint32_t s = view.gpus.servers().first; s < view.gpus.servers().last; ++s) {
    const Server& server = view.topology.server(ServerId{s});
    if (server.gpus.size() == 0) continue;
    auto type = std::ranges::find(types_, server.gpu_type, &Type::id);
    if (type == types_.end()) type = types_.insert(type, {server.gpu_type});
    type->gpus += server.gpus.size();
  }
  std::ranges::sort(types_, {}, &Type::id);
}

/// What is wanted here, but for newcomers, whose place is not known yet.
void PriceRouting::count(const View& view, std::uint64_t newest) {
  free_.sync(view.gpus);
  free_.rooms(rooms_);
  for (Type& type : types_) {
    const auto room = std::ranges::find(rooms_, type.id, &TypeRoom::type);
    type.free = room == rooms_.end() ? 0 : room->free;
    type.wanted = type.gpus - type.free;
  }
  waiting_ = 0;
  for (const JobView& job : view.waiting) {
    if (job.order <= newest) waiting_ += most_gpus(*job.spec);
  }
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
  return type.wanted / type.gpus + waiting_ / gpus_;
}

std::uint32_t PriceRouting::look_of(const JobSpec& job) {
  const Look look{job.model,           job.workers,               job.gpus_per_worker,
                  job.cpus_per_worker, job.memory_gib_per_worker, job.gpu_types};
  return looks_.try_emplace(look, static_cast<std::uint32_t>(looks_.size())).first->second;
}

double PriceRouting::speed_of(const JobSpec& job, GpuTypeId type) {
  PlacementRequest request;
  request.spec = &job;
  request.gpus = job.gpus();
  request.gpus_per_worker = job.gpus_per_worker;
  request.look = look_of(job);
  return speeds_.alone(request, profile_of(job), type);
}

PriceRouting::Place PriceRouting::here(const View& view, const JobSpec& job, bool counted) {
  Place best{view.me, kNowhere, false};
  for (const Type& type : types_) {
    if (type.gpus < least_gpus(job)) continue;
    const double own = counted ? 0 : static_cast<double>(most_gpus(job)) / type.gpus;
    const double cost = cost_of(price_of(type) + own, speed_of(job, type.id));
    if (cost < best.cost) best = {view.me, cost, type.free >= least_gpus(job)};
  }
  return best;
}

PriceRouting::Place PriceRouting::elsewhere(const View& view, const JobView& job) {
  Place best{view.me, kNowhere, false};
  const JobSpec& spec = *job.spec;
  const std::uint32_t least = least_gpus(spec);
  std::optional<RemoteNeed> need;  // only of those who ask for CPUs or memory
  if (demand_of(spec).any()) need = need_of(spec, view.topology);
  for (const RemotePartition& peer : peers_.all()) {
    if (!peer.priced || was_offered(job, peer.agent)) continue;
    for (const RemoteType& type : peers_.types(peer)) {
      const std::uint64_t most =
          need ? peers_.capacity().gpus(view.topology, *peer.digest, look_of(spec), *need,
                                        type.type)
               : type.gpus;
      if (most < least) continue;
      const double price = type.price + static_cast<double>(most_gpus(spec)) / type.gpus;
      const double cost = cost_of(price, speed_of(spec, type.type));
      if (cost < best.cost) best = {peer.agent, cost, type.free >= least};
    }
  }
  return best;
}

void PriceRouting::forward(const View& view, const JobView& job, AgentId to,
                           std::vector<Decision>& out) {
  out.emplace_back(Forward{job.spec->id, to});
  RemoteNeed need = need_of(*job.spec, view.topology);
  need.gpus = most_gpus(*job.spec);
  peers_.note_forward(view, to, std::move(need));
}

const View& PriceRouting::route(const View& view, std::vector<Decision>& out) {
  learn(view);
  const std::uint64_t newest = newest_.value_or(0);
  count(view, newest);
  const std::size_t before = out.size();
  constexpr std::uint32_t kAnyServer = 1;  // whole servers do not count here
  const bool together = peers_.begin(view, kAnyServer);
  if (together) speeds_.sync(view);
  for (const JobView& job : view.waiting) {
    if (job.order <= newest) continue;
    newest_ = std::max(newest_.value_or(0), job.order);
    const bool may = together && !job.blocked && job.forwards == 0 &&
                     out.size() - before < kForwardsPerCall;
    if (may) {
      const Place stay = here(view, *job.spec, false);
      const Place go = elsewhere(view, job);
      if (go.cost < stay.cost * (1 - kWorthIt)) {
        forward(view, job, go.agent, out);
        continue;
      }
    }
    waiting_ += most_gpus(*job.spec);
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
  return without_.emplace(View{view.topology, view.gpus, kept_, view.running, view.others,
                               view.speed, view.now, view.me, view.ends});
}

void PriceRouting::rebalance(const View& view, std::span<const JobView* const> left,
                             std::vector<Decision>& out) {
  if (!peers_.any()) return;
  std::uint32_t given = 0;
  for (const JobView* job : left) {
    if (given >= kForwardsPerCall) return;
    if (job->blocked || job->forwards >= most_moves_in_hope(peers_.count())) continue;
    const Place stay = here(view, *job->spec, true);
    const Place go = elsewhere(view, *job);
    if (go.cost >= stay.cost * (1 - kWorthMoving)) continue;
    forward(view, *job, go.agent, out);
    waiting_ -= most_gpus(*job->spec);
    ++given;
  }
}

}  // namespace starling
