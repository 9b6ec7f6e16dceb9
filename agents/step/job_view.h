// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/step/job.h"
#include "scheduling/policy.h"

namespace starling {

/// What executors have told of it.
inline void add_seen(JobView& view, const Job& job) {
  view.done = job.served + (job.run() == nullptr ? Duration{0} : job.run()->measured);
  view.pace = job.seen.pace;
  view.measured_at = job.seen.at;
  view.restart_cost = job.seen.restart_cost;
  view.noise_scale = job.seen.noise_scale;
  view.batch = job.seen.batch;
}

/// What a policy reads of a job whether it waits or runs; valid while the job's spec is.
[[nodiscard]] inline JobView view_of(const Job& job) {
  JobView view;
  view.spec = job.spec.get();
  view.submitted = job.submitted;
  view.order = job.order;
  view.served = job.served;
  view.forwards = job.forwards;
  view.restarts = job.attempts > 1 ? job.attempts - 1 : 0;
  add_seen(view, job);
  return view;
}

}  // namespace starling
