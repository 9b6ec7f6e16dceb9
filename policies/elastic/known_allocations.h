// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "base/memo.h"
#include "scheduling/policy.h"

namespace starling {

/// Allocations that were searched for, by kind of job and shape of the placement, so that asking
/// again is cheap: of equal ones the first counts.
class KnownAllocations {
 public:
  /// What `search()` said for the first of its kind. `shape`: how the placement, which is not
  /// empty, lies on its servers, as far as that matters to the search.
  template <class Search>
  [[nodiscard]] Allocation of(const Topology& topology, const JobSpec& job,
                              const Placement& placement, std::uint32_t shape, Search search) {
    const GpuTypeId type = topology.server(topology.server_of(placement.front())).gpu_type;
    return known_.of(Key(job.model, job.gpus_per_worker, job.gpus(),
                         static_cast<std::uint32_t>(placement.size()), shape, job.cpus_per_worker,
                         type.value, job.run),
                     search);
  }

 private:
  /// Model, GPUs per worker, GPUs that it asks for and has, the shape, CPUs, type of the first GPU,
  /// and what the job says of itself.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         double, std::uint16_t, RunDetails>;
  Memo<Key, Allocation> known_;
};

}  // namespace starling
