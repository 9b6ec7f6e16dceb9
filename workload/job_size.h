// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "workload/allocation.h"
#include "workload/job.h"

namespace starling {

/// With so many GPUs the job has a size that it may have if it runs by `how`: the one that it asks
/// for; of an elastic job whole workers within its bounds; of one that may be forked, in averaged
/// copies, whole workers, any number.
[[nodiscard]] inline bool may_have_size(const JobSpec& job, std::size_t gpus,
                                        const Allocation& how) {
  if (gpus == job.gpus()) return true;
  const std::size_t of_worker = std::max(job.gpus_per_worker, 1U), workers = gpus / of_worker;
  if (gpus == 0 || gpus % of_worker != 0) return false;
  if (how.averaged && job.run.copies) return true;
  return job.elastic() && workers >= std::max(job.min_workers, 1U) && workers <= job.max_workers;
}

/// GPUs of the workers that `how` says; 0: it does not say how many.
[[nodiscard]] inline std::size_t gpus_said(const JobSpec& job, const Allocation& how) {
  return std::size_t{how.workers} * std::max(job.gpus_per_worker, 1U);
}

/// It says how many workers there are and nothing else. Their GPUs tell that, too.
[[nodiscard]] inline bool says_size_alone(const Allocation& how) {
  return how == Allocation{.workers = how.workers};
}

/// GPUs of a gang over several partitions: its allocation says with how many workers it runs, or it
/// is as large as it asks to be.
[[nodiscard]] inline std::size_t gang_gpus(const JobSpec& job, const Allocation& how) {
  return how.workers == 0 ? job.gpus() : gpus_said(job, how);
}

}  // namespace starling
