// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/room_maker.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "policies/parts/evict.h"
#include "scheduling/feedback.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// A job that is stopped has its grace to end in; one that takes longer is not waited for.
constexpr Duration kPromiseLasts = std::chrono::minutes(10);
/// Growing costs a restart, which the larger size has to earn first.
constexpr Duration kGrowsAfter = std::chrono::minutes(10);

/// It runs, wholly here, and may be stopped.
bool may_stop(const View& view, const JobView& job) {
  return !job.blocked && !job.spec->no_requeue && lies_here(view.gpus, job.placement);
}

bool meet(const Placement& a, const Placement& b) {
  return std::ranges::any_of(a, [&](GpuId gpu) { return std::ranges::binary_search(b, gpu); });
}

}  // namespace

bool RoomMaker::is_stopping(JobId job) const {
  return std::ranges::any_of(promises_, [&](const Promise& promise) {
    return (promise.resizes && promise.job == job) ||
           std::ranges::find(promise.stops, job) != promise.stops.end();
  });
}

void RoomMaker::begin(RoomCall call) {
  STARLING_CHECK(call.trial.free_count() == call.view.gpus.free_count());
  std::erase_if(promises_,
                [&](const Promise& promise) { return look_at(call, promise) != Fate::kept; });
}

RoomMaker::Fate RoomMaker::look_at(RoomCall call, const Promise& promise) {
  const View& view = call.view;
  if (view.now - promise.since > kPromiseLasts ||
      std::ranges::any_of(promise.place, [&](GpuId gpu) { return view.gpus.is_blocked(gpu); }))
    return Fate::given_up;
  const auto queue =
      view.waiting.empty() ? std::span<const QueueEntry>() : call.walk.index().queue();
  const auto entry = std::ranges::find(queue, promise.order, &QueueEntry::order);
  if (entry == queue.end()) {
    // One that is resized is not among those that wait until its processes are gone.
    const auto runs = std::ranges::find(view.running, promise.order, &JobView::order);
    const bool there = runs != view.running.end() && runs->placement == promise.place;
    if (!promise.resizes || there) return there ? Fate::kept_true : Fate::given_up;
  } else {
    const JobView& job = call.walk.index().job(*entry);
    call.walk.taken().mark(static_cast<std::size_t>(entry - queue.begin()));
    const Demand each = demand_of(*job.spec);
    if (!job.blocked && all_free(call.trial.gpus(), promise.place) &&
        call.trial.gpus().has_means(promise.place, each)) {
      call.trial.take(promise.place, each);
      call.candidates.start(job, promise.place);
      call.out.emplace_back(Start{promise.job, promise.place});
      return Fate::kept_true;
    }
  }
  call.candidates.keep(promise.place);
  keep(call.trial, promise.place);
  return Fate::kept;
}

std::span<const JobView* const> RoomMaker::victims_of(const View& view, std::int32_t below) {
  victims_.clear();
  for (const JobView& job : view.running) {
    if (job.spec->priority < below && may_stop(view, job) && !is_stopping(job.spec->id))
      victims_.push_back(&job);
  }
  std::ranges::reverse(victims_);  // the view has them in the order in which they started
  std::ranges::stable_sort(victims_, {}, [](const JobView* job) { return job->spec->priority; });
  return victims_;
}

std::optional<RoomPlan> RoomMaker::stops_for(const RoomCall& call, const JobView& job) {
  if (!may_.stops) return std::nullopt;
  const auto victims = victims_of(call.view, job.spec->priority);
  std::uint64_t most = call.trial.free_count();
  for (const JobView* victim : victims) most += victim->placement.size();
  if (victims.empty() || most < job.spec->gpus()) return std::nullopt;
  Occupancy& soon = soon_.of(call.trial.gpus());
  std::optional<Placement> place;
  std::size_t offered = 0;
  while (!place && offered < victims.size()) {
    const JobView& victim = *victims[offered++];
    soon.give_back(victim.placement, demand_of(*victim.spec));
    place = call.walk.find_place(soon, *job.spec);
  }
  if (!place) return std::nullopt;
  soon.take(*place, demand_of(*job.spec));
  RoomPlan plan{std::move(*place), {}};
  for (std::size_t i = 0; i < offered; ++i) {
    const JobView& victim = *victims[i];
    const Demand each = demand_of(*victim.spec);
    if (meet(victim.placement, plan.place) || !soon.has_means(victim.placement, each)) {
      plan.stops.push_back(&victim);
    } else {
      soon.take(victim.placement, each);
    }
  }
  return plan;
}

std::optional<Placement> RoomMaker::smaller(const RoomCall& call, const JobView& job) const {
  const JobSpec& asked = *job.spec;
  if (!asked.elastic()) return std::nullopt;
  const std::uint32_t worker = std::max(asked.gpus_per_worker, 1U);
  const std::uint32_t least = std::max(asked.min_workers, 1U);
  JobSpec fewer = asked;
  fewer.workers =
      std::min({asked.workers - 1, asked.max_workers, call.trial.free_count() / worker});
  for (; fewer.workers >= least; --fewer.workers) {
    if (auto place = call.walk.find_place(call.trial.gpus(), fewer)) return place;
  }
  return std::nullopt;
}

std::optional<RoomMaker::Growth> RoomMaker::to_grow(const RoomCall& call) {
  const View& view = call.view;
  std::map<std::uint64_t, Instant> small;
  std::optional<Growth> found;
  for (const JobView& other : view.running) {
    const JobSpec& spec = *other.spec;
    if (!spec.elastic() || other.placement.size() >= spec.gpus() || !may_stop(view, other))
      continue;
    const auto seen = small_.find(other.order);
    const Instant since = seen == small_.end() ? view.now : seen->second;
    small.emplace(other.order, since);
    if (found || view.now - since < kGrowsAfter) continue;
    const Demand each = demand_of(spec);
    call.trial.give_back(other.placement, each);
    auto place = call.walk.find_place(call.trial.gpus(), spec);
    call.trial.take(other.placement, each);
    if (!place) continue;
    found = Growth{&other, {std::move(*place), {}}};
  }
  small_ = std::move(small);
  return found;
}

void RoomMaker::stop_and_start(const RoomCall& call, const JobView& job, const RoomPlan& plan) {
  Promise promise{job.spec->id, job.order, plan.place, {}, false, call.view.now};
  for (const JobView* victim : plan.stops) {
    call.out.emplace_back(Preempt{victim->spec->id});
    call.candidates.stop(*victim);
    promise.stops.push_back(victim->spec->id);
  }
  call.candidates.keep(promise.place);
  keep(call.trial, promise.place);
  promises_.push_back(std::move(promise));
}

void RoomMaker::grow(const RoomCall& call, const Growth& growth) {
  const JobView& job = *growth.job;
  call.out.emplace_back(Resize{job.spec->id, growth.plan.place});
  call.candidates.stop(job);
  promises_.push_back({job.spec->id, job.order, growth.plan.place, {}, true, call.view.now});
  small_.erase(job.order);
}

void RoomMaker::refused(const Feedback& feedback) {
  const JobId job = feedback.job();
  const bool stops = std::holds_alternative<Preempt>(feedback.decision);
  const bool resizes = std::holds_alternative<Resize>(feedback.decision);
  std::erase_if(promises_, [&](const Promise& promise) {
    return (resizes && promise.resizes && promise.job == job) ||
           (stops && std::ranges::find(promise.stops, job) != promise.stops.end());
  });
}

}  // namespace starling
