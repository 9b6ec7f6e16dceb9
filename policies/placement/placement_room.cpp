// SPDX-License-Identifier: Apache-2.0
// What a placement policy does beyond what is free, where it may (PlacementPowers).
#include <algorithm>

#include "policies/placement/placement_policy.h"

namespace starling {

bool PlacementPolicy::takes(const DecisionContext& context, const PlacementRequest& request,
                            const JobView& job, const PlacementOption& option) {
  DecisionPoint point{context, request, job, {}};
  const PlacementOption options[] = {option, {}};
  point.options = options;
  scores_ = {0, Scorer::kLast};
  const double work_s = follow_ ? remaining_.left(job, context.view.now) : 0;
  const bool asks = chooser_ != nullptr && chooser_->makes_room();
  const std::size_t taken = asks ? chooser_->choose(point, scores_) : 0;
  reasons_.note(job.spec->id, context.view.now, work_s, point.options, scores_, taken, false);
  return point.options[taken].kind != OptionKind::wait;
}

void PlacementPolicy::make_room(RoomCall call) {
  const auto queue = walk_.index().queue();
  for (const std::size_t i : in_order(call.view.now)) {
    const QueueEntry& entry = queue[i];
    if (walk_.taken()[i]) continue;
    const JobView& job = walk_.index().job(entry);
    if (!job.blocked && !entry.infeasible && make_room_for(call, entry, job)) {
      walk_.taken().mark(i);
    } else if (walk_.options().strict && entry.gpus <= call.view.topology.gpu_count()) {
      return;
    }
  }
}

bool PlacementPolicy::make_room_for(const RoomCall& call, const QueueEntry& entry,
                                    const JobView& job) {
  if (walk_.find_place(call.trial.gpus(), *job.spec)) return false;  // it waits by choice
  const DecisionContext context = context_of(call.view, call.candidates, call.trial);
  const PlacementRequest request = call.candidates.request(*job.spec, entry.look);
  if (const auto plan = rooms_.stops_for(call, job);
      plan && takes(context, request, job, {.kind = OptionKind::stop_and_start, .room = &*plan})) {
    rooms_.stop_and_start(call, job, *plan);
    return true;
  }
  if (!rooms_.may().resizes) return false;
  const auto place = rooms_.smaller(call, job);
  if (!place) return false;
  Candidate smaller;
  smaller.placement = *place;
  if (!takes(context, request, job, {.kind = OptionKind::start, .place = &smaller})) return false;
  call.trial.take(*place, demand_of(*job.spec));
  call.candidates.start(job, *place);
  call.out.emplace_back(Start{job.spec->id, *place});
  return true;
}

void PlacementPolicy::grow(const View& view, Candidates& candidates, std::vector<Decision>& out) {
  walk_.learn(view.gpus);
  if (!view.waiting.empty()) {
    const auto queue = walk_.index().queue();
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (!walk_.taken()[i] && !queue[i].infeasible) return;
    }
  }
  Trial trial = walk_.trial(view);
  const RoomCall call{view, walk_, candidates, trial, out};
  if (view.waiting.empty()) rooms_.begin(call);
  if (!rooms_.idle()) return;
  const auto growth = rooms_.to_grow(call);
  if (!growth) return;
  const JobView& job = *growth->job;
  const DecisionContext context = context_of(view, candidates, trial);
  const PlacementRequest request = candidates.request(*job.spec, 0);
  if (takes(context, request, job, {.kind = OptionKind::resize, .room = &growth->plan}))
    rooms_.grow(call, *growth);
}

}  // namespace starling
