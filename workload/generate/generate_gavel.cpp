// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/generate_gavel.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "workload/gavel_throughput.h"
#include "workload/generate/check_size.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_format.h"

namespace starling {
namespace {

std::uint32_t draw_gpus(Rng& rng) {
  const double u = rng.uniform();
  return u < 0.70 ? 1 : u < 0.80 ? 2 : u < 0.95 ? 4 : 8;
}

double draw_minutes(Rng& rng) {
  const bool ordinary = rng.chance(0.8);
  const double u = rng.uniform();
  return std::pow(10.0, ordinary ? 1.5 + 1.5 * u : 3 + u);
}

}  // namespace

Result<Trace> generate_gavel_trace(const GavelGeneratorOptions& options) {
  if (Status good = check_jobs(options.jobs); !good.ok()) return good.error();
  if (!(options.jobs_per_hour >= 0) || options.jobs_per_hour > 1e6)
    return {Errc::invalid, "jobs_per_hour must be 0 (all at the start) to 1000000"};
  const Rng root(options.seed);
  Rng gangs = root.fork(1);
  Rng types = root.fork(2);
  Rng lengths = root.fork(3);
  Rng arrivals = root.fork(4);
  std::vector<const GavelJobType*> any;
  std::vector<const GavelJobType*> wide;
  for (const GavelJobType& type : gavel_job_types()) {
    any.push_back(&type);
    if (type.multi_gpu()) wide.push_back(&type);
  }

  Trace trace;
  trace.name = (options.jobs_per_hour > 0 ? "gavel-continuous-" : "gavel-static-") +
               std::to_string(options.seed);
  trace.jobs.resize(options.jobs);
  double at_s = 0;
  for (std::uint32_t i = 0; i < options.jobs; ++i) {
    TraceJob& job = trace.jobs[i];
    if (options.jobs_per_hour > 0 && i > 0)
      at_s += arrivals.exponential() * 3600 / options.jobs_per_hour;
    job.submit = from_seconds(at_s);
    const std::uint32_t gpus = options.multi_gpu ? draw_gpus(gangs) : 1;
    const auto& choice = gpus > 1 ? wide : any;
    job.spec.id = trace_job_id(i);
    job.spec.name = "g" + std::to_string(i);
    job.spec.model = choice[types.below(static_cast<std::uint32_t>(choice.size()))]->job_model();
    job.spec.duration = from_seconds(60 * draw_minutes(lengths));
    set_gang(job.spec, gpus);
  }
  return trace;
}

}  // namespace starling
