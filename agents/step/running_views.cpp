// SPDX-License-Identifier: Apache-2.0
#include "agents/step/running_views.h"

#include <algorithm>
#include <utility>

#include "agents/step/job_view.h"

namespace starling {

RunningViews::RunningViews(const PolicyFacts& facts) : kept_(Kept::nothing) {
  if (!facts.preemptive && !facts.elastic && !facts.needs_running) return;
  kept_ = facts.by_end ? Kept::by_end : Kept::by_start;
}

void RunningViews::enter(Job& job) {
  if (kept_ == Kept::nothing) return;
  Job::Run& run = *job.run();
  run.number = ++runs_;
  JobView view = view_of(job);
  view.placement = job.placement;
  view.allocation = job.allocation;
  view.blocked = true;
  if (kept_ == Kept::by_end) return ends_.add(run.number, std::move(view), run.started);
  list_.push_back(std::move(view));
  clocks_.push_back({run.number, run.started, job.served});
}

JobView* RunningViews::find(const Job& job) {
  const std::uint64_t number = job.run()->number;
  if (kept_ == Kept::by_end) return ends_.find(number);
  const auto at =
      std::lower_bound(clocks_.begin(), clocks_.end(), number,
                       [](const Clock& clock, std::uint64_t run) { return clock.run < run; });
  if (at == clocks_.end() || at->run != number) return nullptr;
  JobView& view = list_[static_cast<std::size_t>(at - clocks_.begin())];
  return view.spec == nullptr ? nullptr : &view;
}

void RunningViews::started(const Job& job) {
  JobView* view = find(job);
  if (view == nullptr) return;
  view->blocked = job.spec->no_requeue;  // who must not be started again is never stopped
  const Job::Run& run = *job.run();
  if (kept_ == Kept::by_end) return ends_.restart(run.number, run.started);
  clocks_[static_cast<std::size_t>(view - list_.data())].since = run.started;
}

void RunningViews::measured(const Job& job) {
  if (JobView* view = find(job)) add_seen(*view, job);
}

void RunningViews::leave(const Job& job) {
  JobView* view = find(job);
  if (view == nullptr) return;
  if (kept_ == Kept::by_end) return ends_.remove(job.run()->number);
  view->spec = nullptr;
  ++left_;
}

std::span<const JobView> RunningViews::views(Instant now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].spec == nullptr) continue;
    if (kept != i) {
      list_[kept] = std::move(list_[i]);
      clocks_[kept] = clocks_[i];
    }
    const Clock& clock = clocks_[kept];
    list_[kept].served = clock.before + (clock.since == kNever ? Duration{0} : now - clock.since);
    ++kept;
  }
  list_.resize(kept);
  clocks_.resize(kept);
  left_ = 0;
  return list_;
}

}  // namespace starling
