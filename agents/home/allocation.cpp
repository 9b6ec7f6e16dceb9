// SPDX-License-Identifier: Apache-2.0
// How attempts run, beside where.
#include <algorithm>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "workload/job_size.h"

namespace starling {

/// An executor that is not heard of in this life speaks, for all that is known, the oldest one.
bool OwnerStep::knows_allocations(const Placement& gpus) const {
  if (s.config.protocol < kAllocationProtocol) return false;
  const Partition& here = s.owner.partition;
  return std::all_of(gpus.begin(), gpus.end(), [&](GpuId gpu) {
    if (!here.gpus.contains(gpu.value)) return false;
    const std::uint32_t server = s.topology.server_of(gpu).value - here.servers.first;
    const OwnedExecutor& executor = s.owner.executors[s.owner.executor_of[server]];
    return executor.watch.protocol >= kAllocationProtocol;
  });
}

bool HomeStep::good_allocation(const JobSpec& spec, std::size_t gpus, const Allocation& how) const {
  if (how.as_asked()) return true;
  const std::size_t workers = gpus / std::max(spec.gpus_per_worker, 1U);
  const std::uint32_t most =
      std::max({how.workers, how.servers, how.local_batch, how.accumulation});
  if (most > Allocation::kMost || (how.workers != 0 && how.workers != workers)) return false;
  const RunDetails& run = spec.run;  // what the job says is not to be passed
  if (run.max_servers > 0 && how.servers > run.max_servers) return false;
  const std::uint64_t batch = std::uint64_t{how.local_batch} * (how.accumulation + 1) * workers;
  return run.max_batch == 0 || batch <= run.max_batch;
}

Allocation HomeStep::carried_out(const Job& job, const Allocation& how, const Placement& here,
                                 std::size_t gpus) const {
  if (how.as_asked()) return how;
  if (job.as_asked || !knows_allocations(here)) {
    STARLING_MARK("agent: an allocation that not everybody knows is left out");
    return {};
  }
  Allocation whole = how;
  whole.workers = static_cast<std::uint32_t>(gpus) / std::max(job.spec->gpus_per_worker, 1U);
  return whole;
}

/// The same for a gang over several partitions, once it is known which. Workers alone are its size,
/// and that is told by its GPUs, also to those who know no allocations.
void HomeStep::agree_on_allocation(const Job& job, Attempt& attempt) const {
  if (says_size_alone(attempt.allocation)) attempt.allocation = {};
  if (attempt.allocation.as_asked()) return;
  Placement here;
  bool known = true;
  for (const Participant& part : attempt.parts) {
    if (part.agent == me()) {
      here = part.share.gpus;
    } else {
      known = known && s.flock.peers[part.agent.value].watch.protocol >= kAllocationProtocol;
    }
  }
  attempt.allocation =
      known ? carried_out(job, attempt.allocation, here, job.round()->gpus) : Allocation{};
}

}  // namespace starling
