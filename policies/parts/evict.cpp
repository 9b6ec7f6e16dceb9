// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/evict.h"

#include <algorithm>

#include "scheduling/running_index.h"
#include "workload/requirements.h"

namespace starling {
namespace {

/// Those of them that no job has, ascending.
Placement free_part(const Occupancy& gpus, const Placement& placement) {
  Placement out;
  for (const GpuId gpu : placement) {
    if (gpus.is_free(gpu)) out.push_back(gpu);
  }
  return out;
}

}  // namespace

bool any_runs(const View& view) {
  return !view.running.empty() || (view.ends != nullptr && !view.ends->empty());
}

bool lies_here(const Occupancy& gpus, const Placement& placement) {
  return !placement.empty() && std::ranges::all_of(placement, [&](GpuId gpu) {
    return gpus.gpus().contains(gpu.value) && !gpus.is_free(gpu);
  });
}

bool all_free(const Occupancy& gpus, const Placement& placement) {
  return std::ranges::all_of(placement, [&](GpuId gpu) { return gpus.is_free(gpu); });
}

bool is_left(const Occupancy& gpus, const JobView& job) {
  return !job.placement.empty() && all_free(gpus, job.placement) &&
         gpus.has_means(job.placement, demand_of(*job.spec));
}

bool fits_now(const Occupancy& gpus, const Placement& place, const JobView& job) {
  const Placement& own = job.placement;
  return gpus.has_means(place, demand_of(*job.spec), own) &&
         std::ranges::all_of(place, [&](GpuId gpu) {
           return gpus.is_free(gpu) || std::ranges::binary_search(own, gpu);
         });
}

void keep(Occupancy& now, const Placement& promised) { now.take(free_part(now, promised)); }

void keep(Trial& now, const Placement& promised) { now.take(free_part(now.gpus(), promised)); }

void start_or_keep(Trial& now, JobId job, Placement promised, Demand each,
                   std::vector<Decision>& out) {
  if (!all_free(now.gpus(), promised) || !now.gpus().has_means(promised, each))
    return keep(now, promised);
  now.take(promised, each);
  out.emplace_back(Start{job, std::move(promised)});
}

bool is_needed(const Occupancy& soon, const JobView& job) {
  return std::ranges::any_of(job.placement, [&](GpuId gpu) { return soon.tenants(gpu) > 0; }) ||
         !soon.has_means(job.placement, demand_of(*job.spec));
}

bool stop_if_needed(Occupancy& soon, const JobView& job, std::vector<Decision>& out) {
  const bool stops = is_needed(soon, job);
  if (stops)
    out.emplace_back(Preempt{job.spec->id});
  else
    soon.take(job.placement, demand_of(*job.spec));
  return stops;
}

void Eviction::leaves(const JobView& job) { soon_.give_back(job.placement, demand_of(*job.spec)); }

void Eviction::offer(const JobView& job) {
  leaves(job);
  offered_.push_back(&job);
}

std::vector<JobId> Eviction::settle(std::vector<Decision>& out) {
  std::vector<JobId> stop;
  for (const JobView* job : offered_) {
    if (stop_if_needed(soon_, *job, out)) stop.push_back(job->spec->id);
  }
  offered_.clear();
  return stop;
}

void Eviction::withdraw() {
  for (const JobView* job : offered_) soon_.take(job->placement, demand_of(*job->spec));
  offered_.clear();
}

}  // namespace starling
