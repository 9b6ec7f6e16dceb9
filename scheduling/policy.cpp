// SPDX-License-Identifier: Apache-2.0
#include "scheduling/policy.h"

#include "scheduling/packing.h"

namespace starling {

Placement Policy::offer(const View& view, std::uint32_t want, std::uint32_t gpus_per_worker,
                        Demand each) {
  return place_workers(view.gpus, want, gpus_per_worker, each);
}

}  // namespace starling
