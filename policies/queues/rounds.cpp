// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/rounds.h"

#include <algorithm>
#include <unordered_map>

#include "policies/parts/evict.h"

namespace starling {

bool RoundPlan::contains(JobId job) const {
  return std::ranges::find(planned_, job, &Planned::job) != planned_.end();
}

bool RoundPlan::has_guest(JobId job) const {
  return std::ranges::any_of(planned_, [&](const Planned& p) { return p.beside == job; });
}

void RoundPlan::bring(const View& view, const JobView& job, std::optional<Placement> to,
                      const Allocation& how, std::vector<Decision>& out,
                      std::vector<Decision>& resizes) {
  if (!job.placement.empty()) return move(view, job, std::move(to), how, out, resizes);
  if (to) add({job.spec->id, *std::move(to), std::nullopt, how});
}

void RoundPlan::move(const View& view, const JobView& job, std::optional<Placement> to,
                     const Allocation& how, std::vector<Decision>& out,
                     std::vector<Decision>& resizes) {
  const JobId id = job.spec->id;
  if (to && fits_now(view.gpus, *to, job)) {
    resizes.emplace_back(Resize{id, *std::move(to), how});
    return;
  }
  restart(id, std::move(to), out, std::nullopt, how);
}

void RoundPlan::restart(JobId job, std::optional<Placement> to, std::vector<Decision>& out,
                        std::optional<JobId> beside, const Allocation& how) {
  out.emplace_back(Preempt{job});
  if (to) add({job, *std::move(to), beside, how});
}

namespace {

/// Where the jobs of a plan are: those that are to start, and those beside whom.
class PlannedJobs {
 public:
  PlannedJobs(const std::vector<RoundPlan::Planned>& planned, const View& view,
              const std::vector<Decision>& out) {
    for (const RoundPlan::Planned& p : planned) {
      known_.try_emplace(p.job);
      if (p.beside) known_.try_emplace(*p.beside);
    }
    const auto see = [this](std::span<const JobView> jobs, auto set) {
      for (const JobView& job : jobs) {
        if (const auto at = known_.find(job.spec->id); at != known_.end()) set(at->second, job);
      }
    };
    see(view.waiting, [](Known& known, const JobView& job) { known.waits = &job; });
    see(view.running, [](Known& known, const JobView& job) { known.runs = &job; });
    for (const Decision& decision : out) {
      const auto* preempt = std::get_if<Preempt>(&decision);
      if (preempt == nullptr) continue;
      if (const auto at = known_.find(preempt->job); at != known_.end()) at->second.stops = true;
    }
  }

  [[nodiscard]] const JobView* waits(JobId job) const { return known_.at(job).waits; }
  [[nodiscard]] bool runs(JobId job) const { return known_.at(job).runs != nullptr; }
  void start(JobId job) { known_.at(job).starts = true; }
  /// It will be the one on those GPUs.
  [[nodiscard]] bool is_there(JobId job, const Placement& placement) const {
    const Known& known = known_.at(job);
    if (known.starts) return true;
    return known.runs != nullptr && !known.stops && known.runs->placement == placement;
  }

 private:
  struct Known {
    const JobView* waits = nullptr;
    const JobView* runs = nullptr;
    bool stops = false, starts = false;
  };
  std::unordered_map<JobId, Known> known_;
};

}  // namespace

void RoundPlan::follow(const View& view, Trial& trial, std::vector<Decision>& out) {
  if (planned_.empty()) return;
  PlannedJobs jobs(planned_, view, out);
  const auto has_room = [&](const Planned& planned, Demand each) {
    if (!trial.gpus().has_means(planned.placement, each)) return false;
    if (all_free(trial.gpus(), planned.placement)) return true;
    return planned.beside && jobs.is_there(*planned.beside, planned.placement) &&
           std::all_of(planned.placement.begin(), planned.placement.end(), [&](GpuId gpu) {
             return trial.gpus().has_room(gpu) && trial.gpus().tenants(gpu) == 1;
           });
  };
  std::erase_if(planned_, [&](const Planned& planned) {
    const JobView* waits = jobs.waits(planned.job);
    if (waits == nullptr) return !jobs.runs(planned.job);
    const Demand each = demand_of(*waits->spec);
    if (waits->blocked || !has_room(planned, each)) return false;
    trial.take(planned.placement, each);
    jobs.start(planned.job);
    out.emplace_back(Start{planned.job, planned.placement, planned.allocation});
    return true;
  });
}

Rounds::Rounds(const QueueOptions& options) : queue_(options, [](const JobView&) { return 0; }) {}

bool Rounds::is_due(const View& view, const Trigger& trigger, Duration round) const {
  if (view.waiting.empty() && view.running.empty()) return false;
  if (!began_) return true;
  if (*began_ == view.now) return false;
  return trigger.kind == TriggerKind::round || view.now - *began_ >= round ||
         (view.running.empty() && plan_.empty());
}

std::vector<Decision> Rounds::decide(const View& view, const Trigger& trigger, Duration round,
                                     const Steps& steps) {
  std::vector<Decision> out;
  decide(view, trigger, round, steps, nullptr, out);
  return out;
}

void Rounds::decide(const View& view, const Trigger& trigger, Duration round, const Steps& steps,
                    PriceRouting* routing, std::vector<Decision>& out) {
  queue_.learn(view.gpus);
  steps.observe();
  // What was kept may have been written by a clock that was ahead.
  if (began_) began_ = std::min(*began_, view.now);
  ask_again_ = kNever;
  const bool due = is_due(view, trigger, round);
  if (due) {
    began_ = view.now;
    ++begun_;
    plan_.clear();
    steps.plan(plan_, out);
  } else if (steps.between) {
    steps.between(plan_, out);
  }
  Trial trial = queue_.trial(view);
  for (const Decision& decision : out) {
    if (const auto* resize = std::get_if<Resize>(&decision)) keep(trial, resize->placement);
    if (const auto* spread = std::get_if<Spread>(&decision)) keep(trial, spread->local);
  }
  plan_.follow(view, trial, out);
  if (view.waiting.empty() || view.others.empty() || !(due || steps.overflows_between)) return;
  route_rest(view, trial, due ? routing : nullptr, out);
  if (steps.overflows_between) ask_again_ = queue_.overflow().moves_from();
}

void Rounds::route_rest(const View& view, Trial& trial, PriceRouting* routing,
                        std::vector<Decision>& out) {
  const auto settled = [&](JobId job) {
    const auto goes = [&](const Decision& d) {
      const auto* start = std::get_if<Start>(&d);
      const auto* forward = std::get_if<Forward>(&d);
      const auto* spread = std::get_if<Spread>(&d);
      return (spread != nullptr && spread->job == job) || (start != nullptr && start->job == job) ||
             (forward != nullptr && forward->job == job);
    };
    return plan_.contains(job) || std::any_of(out.begin(), out.end(), goes);
  };
  if (routing != nullptr) {
    std::vector<const JobView*> left;
    for (const JobView& job : view.waiting) {
      if (!settled(job.spec->id)) left.push_back(&job);
    }
    routing->rebalance(view, left, out);
    queue_.overflow().set_veto([routing](const View& of, const JobView& job, AgentId to) {
      return routing->costs_more(of, job, to);
    });
  }
  // What the plan still waits for is not to be offered to any job.
  plan_.keep_places(trial);
  queue_.route_rest(view, trial, settled, out);
}

}  // namespace starling
