// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/scale_load.h"

#include <cmath>

#include "workload/stats.h"

namespace starling {

Status scale_to_load(Trace& trace, std::uint32_t cluster_gpus, double load) {
  if (cluster_gpus == 0) return {Errc::invalid, "a cluster without GPUs has no load"};
  if (!std::isfinite(load) || load <= 0)
    return {Errc::invalid, "load is " + std::to_string(load) + "; it must be above 0"};
  const double offered = offered_load(summarize(trace), cluster_gpus);
  if (offered <= 0) {
    return {Errc::invalid, "all jobs of trace '" + trace.name +
                               "' come at once; its load cannot be scaled by moving them apart"};
  }
  const double factor = offered / load;
  const Duration first = trace.jobs.front().submit;
  for (TraceJob& job : trace.jobs)
    job.submit = first + from_seconds(seconds(job.submit - first) * factor);
  return done();
}

}  // namespace starling
