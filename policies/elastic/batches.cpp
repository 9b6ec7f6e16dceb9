// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/batches.h"

#include <algorithm>
#include <cmath>

#include "interference/goodput/profiles.h"
#include "interference/profile.h"
#include "policies/parts/server_count.h"

namespace starling {
namespace {

Allocation search(const View& view, const JobSpec& job, const Placement& placement) {
  const GoodputProfile* known = goodput_profile(model_profile(job.model));
  const auto gpus = static_cast<std::uint32_t>(placement.size());
  const JobProfile profile = profile_of(job, gpus);
  if (known == nullptr || profile.parameter_servers > 0) return {};
  BatchLimits limits = known->limits;
  if (job.run.batch > 0) limits.own = static_cast<double>(job.run.batch) / job.gpus();
  limits.own *= std::min(job.gpus(), gpus);
  if (job.run.max_batch > 0) limits.largest = job.run.max_batch;
  limits.largest = std::max(limits.largest, limits.own);
  const std::uint32_t worker_gpus = std::max(job.gpus_per_worker, 1U);
  const auto by = [&](const BatchSplit& split) {
    Allocation how;
    how.workers = gpus / worker_gpus;
    how.local_batch = static_cast<std::uint32_t>(std::lround(split.local_batch)) * worker_gpus;
    how.accumulation = split.accumulation;
    return how;
  };
  const BatchChoice best = best_split(limits, gpus, [&](const BatchSplit& split) {
    return view.speed.pace(profile, placement, {}, by(split));
  });
  return best.goodput > 0 ? by(best.split) : Allocation{};
}

}  // namespace

Allocation BatchChoices::best(const View& view, const JobSpec& job, const Placement& placement) {
  if (placement.empty()) return {};
  return known_.of(view.topology, job, placement, server_count(view.topology, placement),
                   [&] { return search(view, job, placement); });
}

}  // namespace starling
