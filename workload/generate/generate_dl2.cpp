// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/generate_dl2.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.h"
#include "workload/dl2_models.h"
#include "workload/generate/check_size.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

constexpr double kMeanS = 147 * 60, kMedianS = 65 * 60;
constexpr double kLeastS = 600, kMostS = 86'400;
constexpr std::uint32_t kAsked = 2, kMost = 16;
constexpr double kCpus = 2;

}  // namespace

Result<Trace> generate_dl2_trace(const Dl2GeneratorOptions& options) {
  if (Status good = check_jobs(options.jobs); !good.ok()) return good.error();
  if (!(options.jobs_per_hour > 0) || options.jobs_per_hour > 1e6)
    return {Errc::invalid, "jobs_per_hour must be above 0 and at most 1000000"};
  const Rng root(options.seed);
  Rng types = root.fork(1), lengths = root.fork(2), arrivals = root.fork(3);
  const double sigma = std::sqrt(2 * std::log(kMeanS / kMedianS));
  const auto models = dl2_models();
  Trace trace;
  trace.name = "dl2-like-" + std::to_string(options.seed);
  trace.jobs.resize(options.jobs);
  double at_s = 0;
  for (std::uint32_t i = 0; i < options.jobs; ++i) {
    if (i > 0) at_s += arrivals.exponential() * 3600 / options.jobs_per_hour;
    TraceJob& job = trace.jobs[i];
    job.submit = from_seconds(at_s);
    JobSpec& spec = job.spec;
    spec.id = trace_job_id(i);
    spec.name = "d" + std::to_string(i);
    spec.model = models[types.below(static_cast<std::uint32_t>(models.size()))].name;
    spec.workers = kAsked;
    spec.min_workers = 1;
    spec.max_workers = kMost;
    spec.cpus_per_worker = kCpus;
    spec.run.max_servers = kMost;
    spec.run.server_cpus = kCpus;
    const double s = kMedianS * std::exp(sigma * lengths.normal());
    spec.duration = from_seconds(std::clamp(s, kLeastS, kMostS));
  }
  return trace;
}

}  // namespace starling
