// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "scheduling/policy.h"
#include "workload/requirements.h"

namespace starling {

/// The running job can have the place as soon as it has left its own: nobody else has to go.
[[nodiscard]] inline bool fits_now(const Occupancy& gpus, const Placement& place,
                                   const JobView& job) {
  const Placement& own = job.placement;
  return gpus.has_means(place, demand_of(*job.spec), own) &&
         std::ranges::all_of(place, [&](GpuId gpu) {
           return gpus.is_free(gpu) || std::ranges::binary_search(own, gpu);
         });
}

}  // namespace starling
