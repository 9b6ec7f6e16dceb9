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

}  // namespace starling
