// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/round_policy.h"

#include <algorithm>

#include "policies/parts/evict.h"

namespace starling {

bool RoundPolicy::is_planned(JobId job) const {
  return std::any_of(plan_.begin(), plan_.end(),
                     [&](const Planned& planned) { return planned.job == job; });
}

bool RoundPolicy::round_is_due(const View& view, const Trigger& trigger) const {
  if (view.waiting.empty() && view.running.empty()) return false;
  if (!began_) return true;
  if (*began_ == view.now) return false;
  return trigger.kind == TriggerKind::round || view.now - *began_ >= facts().round ||
         (view.running.empty() && plan_.empty());
}

std::vector<Decision> RoundPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  std::vector<Decision> out;
  learn_partition(view.gpus);
  observe(view);
  const bool round = round_is_due(view, trigger);
  if (round) {
    began_ = view.now;
    plan_.clear();
    plan_round(view, rng, out);
  } else {
    between_rounds(view, out);
  }
  Trial trial(planned_, view.gpus);
  for (const Decision& decision : out) {
    const auto* resize = std::get_if<Resize>(&decision);
    if (resize == nullptr) continue;
    keep(trial, resize->placement);
  }
  follow_plan(view, trial, out);
  if (round && !view.waiting.empty() && !view.others.empty()) cooperate(view, trial, out);
  return out;
}

void RoundPolicy::follow_plan(const View& view, Trial& trial, std::vector<Decision>& out) {
  const auto stops = [&](JobId job) {
    return std::any_of(out.begin(), out.end(), [&](const Decision& d) {
      const auto* preempt = std::get_if<Preempt>(&d);
      return preempt != nullptr && preempt->job == job;
    });
  };
  const auto is_there = [&](JobId other, const Placement& placement) {
    return std::any_of(view.running.begin(), view.running.end(),
                       [&](const JobView& job) {
                         return job.spec->id == other && job.placement == placement;
                       }) &&
           !stops(other);
  };
  std::vector<JobId> started;
  const auto has_room = [&](const Planned& planned, Demand each) {
    if (!trial.gpus().has_means(planned.placement, each)) return false;
    if (all_free(trial.gpus(), planned.placement)) return true;
    if (!planned.beside) return false;
    const bool comes = std::find(started.begin(), started.end(), *planned.beside) != started.end();
    return (comes || is_there(*planned.beside, planned.placement)) &&
           std::all_of(planned.placement.begin(), planned.placement.end(), [&](GpuId gpu) {
             return trial.gpus().has_room(gpu) && trial.gpus().tenants(gpu) == 1;
           });
  };
  std::erase_if(plan_, [&](const Planned& planned) {
    const auto named = [&](const JobView& job) { return job.spec->id == planned.job; };
    const auto waits = std::find_if(view.waiting.begin(), view.waiting.end(), named);
    if (waits == view.waiting.end()) {
      return std::none_of(view.running.begin(), view.running.end(), named);
    }
    const Demand each = demand_of(*waits->spec);
    if (waits->blocked || !has_room(planned, each)) return false;
    trial.take(planned.placement, each);
    started.push_back(planned.job);
    out.emplace_back(Start{planned.job, planned.placement});
    return true;
  });
}

void RoundPolicy::cooperate(const View& view, Trial& trial, std::vector<Decision>& out) {
  index_.sync(view.waiting, view.now, view.news);
  taken_.reset(index_.queue().size());
  for (std::size_t i = 0; i < index_.queue().size(); ++i) {
    const JobId job = index_.job(index_.queue()[i]).spec->id;
    const auto starts = [&](const Decision& d) {
      const auto* start = std::get_if<Start>(&d);
      return start != nullptr && start->job == job;
    };
    if (is_planned(job) || std::any_of(out.begin(), out.end(), starts)) taken_.mark(i);
  }
  // What the plan still waits for is not to be offered to anybody.
  for (const Planned& planned : plan_) keep(trial, planned.placement);
  if (cooperation_.begin(view, shape())) {
    cooperation_.decide(view, shape(), index_, taken_, trial, out);
  }
}

}  // namespace starling
