// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/list_options.h"

#include <algorithm>

#include "policies/partitions/co_allocation.h"

namespace starling {
namespace {

/// Where the candidates keep what is free of the type; free.kinds(): nowhere.
std::uint32_t kind_of(const FreeServers& free, GpuTypeId type) {
  std::uint32_t kind = free.kinds() > 1 ? 1 : 0;
  while (kind < free.kinds() && free.type(kind) != type) ++kind;
  return kind;
}

}  // namespace

std::span<const PlacementOption> OptionLister::list(const DecisionPoint& point, Scorer& scorer) {
  const std::vector<const Candidate*>* places = &own_places_;
  if (rules_.own_places) {
    own_places_.clear();
    own_ = {};
    if (auto place = scorer.place(point)) {
      own_.placement = std::move(*place);
      own_places_.push_back(&own_);
    }
    add_shared(point, own_places_);
  } else {
    const std::uint32_t look = point.request.look;
    if (looks_.size() <= look) looks_.resize(look + 1);
    Look& known = looks_[look];
    if (known.version != point.candidates.version()) {
      find_places(point, known.places);
      known.version = point.candidates.version();
    }
    places = &known.places;
  }
  options_.clear();
  for (const Candidate* place : *places) options_.push_back({OptionKind::start, place, nullptr});
  for (const Destination& there : point.out.destinations)
    options_.push_back({OptionKind::forward, nullptr, &there});
  if (places->empty() || (rules_.waits && (point.busy() || point.out.later)))
    options_.push_back({});
  return options_;
}

void OptionLister::find_places(const DecisionPoint& point,
                               std::vector<const Candidate*>& places) const {
  places = point.candidates.exclusive(point.request);
  add_shared(point, places);
}

void OptionLister::add_shared(const DecisionPoint& point,
                              std::vector<const Candidate*>& places) const {
  if (rules_.shared == SharedPlaces::never) return;
  if (!places.empty() && rules_.shared == SharedPlaces::if_none_free) return;
  if (!places.empty() && rules_.shared == SharedPlaces::if_slowed && places.front()->slowdown <= 0)
    return;
  for (const Candidate* shared : point.candidates.shared(point.request)) {
    const auto same = [&](const Candidate* c) { return c->placement == shared->placement; };
    if (std::ranges::none_of(places, same)) places.push_back(shared);
  }
}

bool OptionLister::find_type(const DecisionPoint& point, const QueueEntry& entry, bool shares) {
  const PlacementRequest& request = point.request;
  const JobSpec& job = *point.job.spec;
  ForwardingBySpeed& forwarding = point.forwarding;
  const JobProfile& profile = point.candidates.residents().profile(request.profile);
  const double least =
      std::max(*rules_.minimum_gain * forwarding.best(point.view, request, profile), 1e-9);
  const FreeServers& free = point.candidates.free();
  plan_ = {};
  for (const GpuTypeId type : forwarding.types()) {
    const double speed = forwarding.speeds().alone(point.view, request, profile, type);
    if (speed < least || speed <= plan_.speed) continue;
    const std::uint32_t kind = kind_of(free, type);
    std::uint64_t here = kind < free.kinds() ? free.free_count(kind) : 0;
    if (entry.needy) here = std::min(here, free_of_type(point.planned, type, job));
    const std::uint64_t there = forwarding.free_of(point.view, type, job);
    const std::uint64_t open =
        shares ? point.candidates.open_of(type) + forwarding.open_of(type) : 0;
    if (here + there + open < entry.gpus) continue;
    plan_.shares = shares;
    plan_.open = open;
    plan_.speed = speed;
    plan_.type = type;
    plan_.elsewhere = there;
  }
  return plan_.speed > 0;
}

Placement OptionLister::share_here(const DecisionPoint& point, std::uint32_t gpus) const {
  const FreeServers& free = point.candidates.free();
  const std::uint32_t worker = std::max(point.request.gpus_per_worker, 1U);
  Placement share;
  if (const std::uint32_t kind = kind_of(free, plan_.type); kind < free.kinds()) {
    std::uint32_t some = std::min(free.free_count(kind), gpus) / worker * worker;
    for (; some > 0 && share.empty(); some -= worker)
      share = free.tight(kind, some, worker).value_or(Placement{});
  }
  const Demand each = demand_of(*point.job.spec);
  if (point.planned.has_means(share, each)) return share;
  share = place_workers(point.planned, static_cast<std::uint32_t>(share.size()),
                        point.request.gpus_per_worker, each);
  std::erase_if(share, [&](GpuId gpu) { return point.view.topology.type_of(gpu) != plan_.type; });
  return share;
}

std::span<const PlacementOption> OptionLister::list_co_allocation(const DecisionPoint& point,
                                                                  const QueueEntry& entry,
                                                                  bool shares) {
  options_.clear();
  if (!rules_.minimum_gain || !find_type(point, entry, shares)) return options_;
  if (!shares) plan_.share = share_here(point, entry.gpus);
  options_.push_back({OptionKind::co_allocate, nullptr, nullptr, &plan_});
  options_.push_back({});
  return options_;
}

}  // namespace starling
