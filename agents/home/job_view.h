// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/step/job.h"
#include "scheduling/policy.h"

namespace starling {

/// What a policy reads of a job whether it waits or runs; valid while the job's spec is.
[[nodiscard]] inline JobView view_of(const Job& job) {
  JobView view;
  view.spec = job.spec.get();
  view.submitted = job.submitted;
  view.order = job.order;
  view.served = job.served;
  view.forwards = job.forwards;
  return view;
}

}  // namespace starling
