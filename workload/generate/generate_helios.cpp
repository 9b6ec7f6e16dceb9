// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/generate_helios.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.h"
#include "workload/catalogue.h"
#include "workload/generate/check_size.h"
#include "workload/generate/gang_sizes.h"
#include "workload/generate/scale_load.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_format.h"

namespace starling {
namespace {

// How common gang sizes are, chosen to give Venus' mean and median; the sizes of its jobs are not
// published.
constexpr GangSize kGangs[] = {{1, 0.505}, {2, 0.06},  {4, 0.08},  {8, 0.25},
                               {16, 0.05}, {32, 0.03}, {64, 0.02}, {128, 0.005}};

// Log-normal run times with Venus' median and mean: sigma^2 = 2 ln(13041 / 204).
constexpr double kMedianS = 204;
constexpr double kSigma = 2.88;

// Bursts: P(size >= k) = k^-1.3 up to the largest. A day's rate swings by 0.6 about its mean.
constexpr double kBurstPower = 1.3;
constexpr double kBurstGapS = 2;
constexpr double kJobsPerDay = 692;
constexpr double kDaySwing = 0.6;

std::uint32_t draw_burst(Rng& rng, std::uint32_t most) {
  const double size = std::pow(1 - rng.uniform(), -1 / kBurstPower);
  return static_cast<std::uint32_t>(std::min(size, static_cast<double>(most)));
}

JobSpec draw_job(Rng& rng, const HeliosGeneratorOptions& options) {
  const auto models = catalogue();
  JobSpec spec;
  set_gang(spec, draw_gang(rng, kGangs, options.cluster_gpus));
  spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  spec.user = "user" + std::to_string(rng.below(200));
  spec.queue = "vc" + std::to_string(rng.below(27));
  return spec;
}

Status check(const HeliosGeneratorOptions& o) {
  Status good = check_size(o.jobs, o.cluster_gpus, o.load, o.max_duration_s);
  if (!good.ok()) return good;
  if (o.max_burst < 1) return {Errc::invalid, "max_burst must be at least 1"};
  return done();
}

}  // namespace

Result<Trace> generate_helios_trace(const HeliosGeneratorOptions& options) {
  if (Status good = check(options); !good) return good.error();
  const Rng root(options.seed);
  Rng people = root.fork(1);
  Rng lengths = root.fork(2);
  Rng arrivals = root.fork(3);
  Trace trace;
  trace.name = "helios-like-" + std::to_string(options.seed);
  trace.jobs.reserve(options.jobs);
  double at_s = 0;
  // Bursts of size b come so often that there are kJobsPerDay jobs a day; their mean size is about
  // power / (power - 1) for the sizes that the power law gives.
  const double gap_s = 86'400 / kJobsPerDay * kBurstPower / (kBurstPower - 1);
  while (trace.jobs.size() < options.jobs) {
    const double rate = 1 + kDaySwing * std::sin(at_s * 2 * 3.14159265358979 / 86'400);
    if (!trace.jobs.empty()) at_s += arrivals.exponential() * gap_s / rate;
    const JobSpec spec = draw_job(people, options);
    const double usual_s = kMedianS * std::exp(kSigma * lengths.normal());
    const std::uint32_t burst = draw_burst(arrivals, options.max_burst);
    for (std::uint32_t i = 0; i < burst && trace.jobs.size() < options.jobs; ++i) {
      if (i > 0) at_s += arrivals.exponential() * kBurstGapS;
      const auto index = static_cast<std::uint32_t>(trace.jobs.size());
      TraceJob& job = trace.jobs.emplace_back();
      job.submit = from_seconds(at_s);
      job.spec = spec;
      job.spec.id = trace_job_id(index);
      job.spec.name = "h" + std::to_string(index);
      // Equal jobs of a sweep differ a little.
      const double s = usual_s * std::exp(0.1 * lengths.normal());
      job.spec.duration = from_seconds(std::clamp(s, 1.0, options.max_duration_s));
    }
  }
  if (trace.jobs.size() > 1) {
    if (Status scaled = scale_to_load(trace, options.cluster_gpus, options.load); !scaled)
      return scaled.error();
  }
  return trace;
}

}  // namespace starling
