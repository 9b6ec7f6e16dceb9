// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/generate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "workload/catalogue.h"
#include "workload/generate/check_size.h"
#include "workload/generate/gang_sizes.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_format.h"

namespace starling {
namespace {

// Philly, 64,871 jobs: how common each gang size is. The 0.34 % of 16 and more is split as a
// falling tail.
constexpr GangSize kGangs[] = {{1, 0.9296}, {2, 0.027},   {4, 0.022},   {8, 0.018},
                               {16, 0.002}, {32, 0.0009}, {64, 0.0004}, {128, 0.0001}};

// Philly's duration quantiles in seconds. The ends are assumed: the fastest failures, and the log's
// 110 days.
struct Knot {
  double u;
  double s;
};
constexpr std::array<Knot, 9> kDurations = {{{0, 15},
                                             {0.05, 45},
                                             {0.25, 76},
                                             {0.50, 896},
                                             {0.75, 3378},
                                             {0.90, 11'087},
                                             {0.95, 39'826},
                                             {0.99, 253'379},
                                             {1, 5'000'000}}};

// Bursts: a user submits the same job again within seconds (sweeps and retries); between bursts,
// hours of quiet come beside minutes. Chosen so that the interarrival times vary far more than a
// Poisson process.
constexpr double kRepeat = 0.35;
constexpr double kRepeatGap = 0.02;  // of a usual gap
constexpr double kGapSigma = 1.7;

double duration_at(double u) {
  std::size_t i = 1;
  while (i + 1 < kDurations.size() && u > kDurations[i].u) ++i;
  const Knot& low = kDurations[i - 1];
  const Knot& high = kDurations[i];
  const double part = (u - low.u) / (high.u - low.u);
  return std::exp(std::log(low.s) + part * (std::log(high.s) - std::log(low.s)));
}

// Philly's larger gangs run longer: jobs of 8 GPUs and more used most of its GPU time. Their rank
// is the largest of three; `large` is their share of all jobs, and the other jobs make up for them,
// so that the quantiles over all jobs stay Philly's.
double draw_duration(Rng& rng, std::uint32_t gpus, double large) {
  const double u = rng.uniform();
  if (gpus >= 8) return duration_at(std::max({u, rng.uniform(), rng.uniform()}));
  double x = u;  // solves x - large x^3 = (1 - large) u
  for (int i = 0; i < 8; ++i) x = (1 - large) * u + large * x * x * x;
  return duration_at(x);
}

Status check(const TraceGeneratorOptions& o) {
  Status good = check_size(o.jobs, o.cluster_gpus, o.load, o.max_duration_s);
  if (!good.ok()) return good;
  if (!(o.mean_duration_s >= 0) || o.mean_duration_s > o.max_duration_s) {
    return {Errc::invalid, "mean_duration_s must be 0 (Philly's own) to max_duration_s"};
  }
  return done();
}

// Durations times one factor, capped, so that their mean is `mean`: bisection, as the cap makes it
// non-linear.
void scale_to_mean(std::vector<double>& durations, double mean, double cap) {
  const auto mean_at = [&](double factor) {
    double sum = 0;
    for (const double d : durations) sum += std::min(d * factor, cap);
    return sum / static_cast<double>(durations.size());
  };
  double low = 0;
  double high = 1;
  while (mean_at(high) < mean && high < 1e12) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (mean_at(middle) < mean ? low : high) = middle;
  }
  for (double& d : durations) d *= high;
}

Duration whole_ms(double s) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(s * 1000)));
}

// Spreads the submissions so that the GPU time over their span is the load asked for.
void place_arrivals(Trace& trace, const std::vector<double>& gaps,
                    const TraceGeneratorOptions& options) {
  double gpu_time = 0;
  for (const TraceJob& job : trace.jobs) gpu_time += job.spec.gpus() * seconds(job.spec.duration);
  const double span = gpu_time / (options.load * options.cluster_gpus);
  double total = 0;
  for (const double gap : gaps) total += gap;
  double at = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    at += gaps[i];
    trace.jobs[i + 1].submit = from_seconds(span * (at / total));
  }
}

std::string number_of(std::uint32_t i, std::size_t digits) {
  const std::string text = std::to_string(i);
  return std::string(text.size() < digits ? digits - text.size() : 0, '0') + text;
}

JobSpec draw_job(Rng& rng, std::uint32_t gpus) {
  const auto models = catalogue();
  JobSpec spec;
  set_gang(spec, gpus);
  spec.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  spec.user = "user" + number_of(rng.below(50), 2);
  spec.queue = "vc" + number_of(rng.below(14), 2);
  return spec;
}

}  // namespace

Result<Trace> generate_trace(const TraceGeneratorOptions& options) {
  if (Status good = check(options); !good) return good.error();
  const Rng root(options.seed);
  Rng gangs = root.fork(1);
  Rng lengths = root.fork(2);
  Rng arrivals = root.fork(3);
  Rng people = root.fork(4);

  double large = 0;
  for (const GangSize& gang : kGangs)
    large += gang.gpus >= 8 && options.cluster_gpus >= 8 ? gang.part : 0;

  Trace trace;
  trace.name = "philly-like-" + std::to_string(options.seed);
  trace.jobs.resize(options.jobs);
  std::vector<double> durations(options.jobs);
  std::vector<double> gaps;
  gaps.reserve(options.jobs - 1);
  for (std::uint32_t i = 0; i < options.jobs; ++i) {
    const bool repeat = i > 0 && arrivals.chance(kRepeat);
    if (i > 0)
      gaps.push_back((repeat ? kRepeatGap : std::exp(kGapSigma * arrivals.normal())) *
                     arrivals.exponential());
    JobSpec& spec = trace.jobs[i].spec;
    spec = repeat ? trace.jobs[i - 1].spec
                  : draw_job(people, draw_gang(gangs, kGangs, options.cluster_gpus));
    spec.id = trace_job_id(i);
    spec.name = 'g' + number_of(i, 6);
    durations[i] = repeat ? durations[i - 1] : draw_duration(lengths, spec.gpus(), large);
  }
  if (options.mean_duration_s > 0)
    scale_to_mean(durations, options.mean_duration_s, options.max_duration_s);
  for (std::uint32_t i = 0; i < options.jobs; ++i) {
    trace.jobs[i].spec.duration = whole_ms(std::min(durations[i], options.max_duration_s));
  }
  place_arrivals(trace, gaps, options);
  return trace;
}

}  // namespace starling
