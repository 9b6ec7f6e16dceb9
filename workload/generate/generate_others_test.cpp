// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/limits.h"
#include "workload/check_job.h"
#include "workload/dl2_models.h"
#include "workload/gavel_throughput.h"
#include "workload/generate/generate_dl2.h"
#include "workload/generate/generate_gavel.h"
#include "workload/generate/generate_helios.h"
#include "workload/generate/scale_load.h"
#include "workload/stats.h"

using namespace starling;

TEST_CASE("Gavel's workloads: durations, gangs, arrivals and types as its generator draws them") {
  GavelGeneratorOptions options;
  options.jobs = 20'000;
  const Trace trace = generate_gavel_trace(options).value();
  const TraceSummary s = summarize(trace);
  const auto share = [&](std::uint32_t gpus) {
    return static_cast<double>(s.gangs.at(gpus)) / static_cast<double>(s.jobs);
  };
  CHECK(share(1) == doctest::Approx(0.70).epsilon(0.03));
  CHECK(share(2) == doctest::Approx(0.10).epsilon(0.07));
  CHECK(share(4) == doctest::Approx(0.15).epsilon(0.07));
  CHECK(share(8) == doctest::Approx(0.05).epsilon(0.1));
  CHECK(s.duration_s.min >= 60 * std::pow(10, 1.5));
  CHECK(s.duration_s.max <= 60 * 1e4);
  const auto ordinary = std::count_if(trace.jobs.begin(), trace.jobs.end(), [](const TraceJob& j) {
    return seconds(j.spec.duration) <= 60'000;
  });
  CHECK(static_cast<double>(ordinary) / 20'000 == doctest::Approx(0.8).epsilon(0.02));
  CHECK(s.interarrival_cv == doctest::Approx(1).epsilon(0.05));
  CHECK(s.span_s / (20'000 - 1) == doctest::Approx(3600 / 5.6).epsilon(0.03));
  CHECK(s.models.size() == 26);
  for (const TraceJob& job : trace.jobs) {
    REQUIRE(check_job(job.spec, Limits{}).ok());
    const GavelJobType* type = gavel_job_type(job.spec.model);
    REQUIRE(type != nullptr);
    REQUIRE(type->speed(GpuKind::v100, job.spec.gpus()) > 0);
  }
  options.jobs = 100;
  options.jobs_per_hour = 0;
  options.multi_gpu = false;
  const TraceSummary still = summarize(generate_gavel_trace(options).value());
  CHECK(still.span_s == 0);
  CHECK(still.gpus.max == 1);
  options.jobs_per_hour = -1;
  CHECK(generate_gavel_trace(options).error().code == Errc::invalid);
}

TEST_CASE("a Helios-like trace has Venus' means and medians, and bursts") {
  HeliosGeneratorOptions options;
  options.jobs = 200'000;
  options.max_duration_s = 1e8;
  const Trace trace = generate_helios_trace(options).value();
  const TraceSummary s = summarize(trace);
  CHECK(s.gpus.mean == doctest::Approx(6.7).epsilon(0.15));
  CHECK(s.gpus.p50 == 1);
  CHECK(s.duration_s.p50 == doctest::Approx(204).epsilon(0.15));
  CHECK(s.duration_s.mean == doctest::Approx(13'041).epsilon(0.3));
  CHECK(s.interarrival_cv > 2);
  CHECK(offered_load(s, options.cluster_gpus) == doctest::Approx(0.8).epsilon(1e-6));
  std::uint32_t longest = 0;
  std::uint32_t run = 1;
  for (std::size_t i = 1; i < trace.jobs.size(); ++i) {
    const JobSpec& a = trace.jobs[i - 1].spec;
    const JobSpec& b = trace.jobs[i].spec;
    run = a.user == b.user && a.model == b.model && a.gpus() == b.gpus() ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  CHECK(longest > 300);
  MESSAGE("interarrival CV " << s.interarrival_cv << ", longest burst " << longest << ", mean gang "
                             << s.gpus.mean << ", mean duration " << s.duration_s.mean << " s");
  options.jobs = 3000;
  options.cluster_gpus = 16;
  options.max_duration_s = 86'400;
  const Trace small = generate_helios_trace(options).value();
  CHECK(summarize(small).gpus.max <= 16);
  for (const TraceJob& job : small.jobs) REQUIRE(check_job(job.spec, Limits{}).ok());
  const Trace again = generate_helios_trace(options).value();
  CHECK(std::equal(small.jobs.begin(), small.jobs.end(), again.jobs.begin(),
                   [](const TraceJob& a, const TraceJob& b) {
                     return a.submit == b.submit && a.spec.duration == b.spec.duration &&
                            a.spec.model == b.spec.model;
                   }));
  options.max_burst = 0;
  CHECK(generate_helios_trace(options).error().code == Errc::invalid);
}

TEST_CASE("any trace is scaled to a load; one without a span is not") {
  GavelGeneratorOptions options;
  options.jobs = 300;
  Trace trace = generate_gavel_trace(options).value();
  for (const double load : {0.3, 1.1}) {
    REQUIRE(scale_to_load(trace, 108, load).ok());
    CHECK(offered_load(summarize(trace), 108) == doctest::Approx(load).epsilon(1e-9));
  }
  const Duration last = trace.jobs.back().submit;
  CHECK(!scale_to_load(trace, 0, 1).ok());
  CHECK(!scale_to_load(trace, 8, 0).ok());
  CHECK(trace.jobs.back().submit == last);
  options.jobs_per_hour = 0;
  Trace still = generate_gavel_trace(options).value();
  CHECK(scale_to_load(still, 8, 1).error().code == Errc::invalid);
}

TEST_CASE("DL2's testbed: its models, sizes and the lengths that the paper tells of") {
  Dl2GeneratorOptions options;
  options.jobs = 20'000;
  const Trace trace = generate_dl2_trace(options).value();
  std::map<std::string, int> models;
  double sum = 0;
  int above_an_hour = 0;
  for (const TraceJob& job : trace.jobs) {
    REQUIRE(check_job(job.spec, Limits{}).ok());
    REQUIRE(dl2_model(job.spec.model) != nullptr);
    ++models[job.spec.model];
    sum += seconds(job.spec.duration) / 60;
    above_an_hour += seconds(job.spec.duration) > 3600 ? 1 : 0;
    CHECK(job.spec.elastic());
    CHECK(job.spec.run.max_servers == job.spec.max_workers);
  }
  CHECK(models.size() == 8);
  for (const auto& [model, jobs] : models) CHECK(jobs == doctest::Approx(2500).epsilon(0.06));
  CHECK(sum / 20'000 == doctest::Approx(147).epsilon(0.08));
  CHECK(above_an_hour > 10'000);
  CHECK(summarize(trace).interarrival_cv == doctest::Approx(1).epsilon(0.05));
  options.jobs_per_hour = 0;
  CHECK(generate_dl2_trace(options).error().code == Errc::invalid);
}
