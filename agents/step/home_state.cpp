// SPDX-License-Identifier: Apache-2.0
#include "agents/step/home_state.h"

#include <memory>
#include <string>
#include <utility>

#include "agents/step/job_view.h"

namespace starling {

void HomeState::enter_waiting(Job& job, bool blocked) {
  JobView view = view_of(job);
  view.spec = quota.shown(job);
  view.failed_rounds = job.failed_rounds;
  view.blocked = blocked;
  view.offered = job.closed_homes();
  waiting_gpus += job.spec->gpus();
  quota.let(job);
  waiting.add(std::move(view));
}

void HomeState::leave_waiting(Job& job) {
  job.refused = {};
  if (waiting.leave(job.order)) {
    waiting_gpus -= job.spec->gpus();
    quota.let_no_more(job);
  } else {
    quota.keep_back_no_more(job);
  }
}

void HomeState::enter_running(Job& job) {
  job.seen.pace = 0;
  job.seen.at = kNever;
  ++running_jobs;
  quota.run(job);
  passing.started(job.spec->priority, job.order);
  running.enter(job);
}

void HomeState::name_queues() {
  const std::string& fallback = quota.portions.tree().fallback;
  if (fallback.empty()) return;
  for (auto& [id, job] : jobs) {
    if (!job.spec->queue.empty()) continue;
    JobSpec named = *job.spec;
    named.queue = fallback;
    job.spec = std::make_shared<const JobSpec>(std::move(named));
    job.within_quota = nullptr;  // it names none, either
    if (job.run() == nullptr) continue;
    if (JobView* view = running.find(job)) view->spec = job.spec.get();
  }
}

void HomeState::depart(const Job& job, JobFate fate, Instant now) {
  if (departed.size() >= kMostDeparted)  // the policy has not been asked for long
    departed.erase(departed.begin(), departed.begin() + kMostDeparted / 2);
  departed.push_back({job.spec, fate, job.order, job.submitted, now, job.served});
}

void HomeState::leave_running(Job& job, bool waits) {
  job.refused = {};
  --running_jobs;
  quota.run_no_more(job, waits);
  running.leave(job);
}

}  // namespace starling
