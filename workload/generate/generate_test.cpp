// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/generate.h"

#include <doctest/doctest.h>

#include "base/limits.h"
#include "workload/check_job.h"
#include "workload/stats.h"

using namespace starling;

TEST_CASE("a generated trace has Philly's statistics") {
  TraceGeneratorOptions options;
  options.jobs = 40'000;
  options.max_duration_s = 1e7;
  const TraceSummary s = summarize(generate_trace(options).value());
  const auto share = [&](std::uint32_t gpus) {
    const auto at = s.gangs.find(gpus);
    return at == s.gangs.end()
               ? 0.0
               : 100.0 * static_cast<double>(at->second) / static_cast<double>(s.jobs);
  };
  CHECK(share(1) == doctest::Approx(93).epsilon(0.01));
  CHECK(share(2) == doctest::Approx(2.7).epsilon(0.15));
  CHECK(share(4) == doctest::Approx(2.2).epsilon(0.15));
  CHECK(share(8) == doctest::Approx(1.8).epsilon(0.15));
  CHECK(share(16) + share(32) + share(64) + share(128) == doctest::Approx(0.34).epsilon(0.4));
  CHECK(s.gangs.rbegin()->first <= 128);
  CHECK(s.duration_s.p5 == doctest::Approx(45).epsilon(0.1));
  CHECK(s.duration_s.p25 == doctest::Approx(76).epsilon(0.15));
  CHECK(s.duration_s.p50 == doctest::Approx(896).epsilon(0.15));
  CHECK(s.duration_s.p75 == doctest::Approx(3378).epsilon(0.15));
  CHECK(s.duration_s.p90 == doctest::Approx(11'087).epsilon(0.15));
  CHECK(s.duration_s.p95 == doctest::Approx(39'826).epsilon(0.25));
  CHECK(s.duration_s.p99 == doctest::Approx(253'379).epsilon(0.35));
  CHECK(s.interarrival_cv > 3);
  CHECK(s.models.size() > 10);
  CHECK(offered_load(s, options.cluster_gpus) == doctest::Approx(options.load).epsilon(1e-9));
  MESSAGE("interarrival CV " << s.interarrival_cv << ", mean duration " << s.duration_s.mean
                             << " s");
}

TEST_CASE("load, mean and cap are met; gangs fit the cluster; every job makes sense") {
  for (const std::uint32_t cluster : {1U, 3U, 8U, 100U}) {
    TraceGeneratorOptions options;
    options.jobs = 3000;
    options.cluster_gpus = cluster;
    options.load = 1.7;
    options.mean_duration_s = 500;
    options.max_duration_s = 4000;
    const Trace trace = generate_trace(options).value();
    const TraceSummary s = summarize(trace);
    CHECK(s.gpus.max <= cluster);
    CHECK(s.duration_s.mean == doctest::Approx(500).epsilon(1e-4));
    CHECK(s.duration_s.max <= 4000.001);
    CHECK(offered_load(s, cluster) == doctest::Approx(1.7).epsilon(1e-9));
    for (const TraceJob& job : trace.jobs) REQUIRE(check_job(job.spec, Limits{}).ok());
  }
}

TEST_CASE("same options, same trace; another seed, another one; one job is enough") {
  TraceGeneratorOptions options;
  options.jobs = 100;
  const Trace a = generate_trace(options).value();
  const Trace b = generate_trace(options).value();
  options.seed = 2;
  const Trace c = generate_trace(options).value();
  bool differs = false;
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(a.jobs[i].submit == b.jobs[i].submit);
    CHECK(a.jobs[i].spec.duration == b.jobs[i].spec.duration);
    CHECK(a.jobs[i].spec.model == b.jobs[i].spec.model);
    differs = differs || a.jobs[i].submit != c.jobs[i].submit;
  }
  CHECK(differs);
  options.jobs = 1;
  CHECK(generate_trace(options).value().jobs.size() == 1);
}

TEST_CASE("options out of range are refused") {
  const auto refused = [](auto change) {
    TraceGeneratorOptions options;
    change(options);
    return generate_trace(options).error().code == Errc::invalid;
  };
  CHECK(refused([](auto& o) { o.jobs = 0; }));
  CHECK(refused([](auto& o) { o.cluster_gpus = 0; }));
  CHECK(refused([](auto& o) { o.load = 0; }));
  CHECK(refused([](auto& o) { o.load = 0.0 / (o.load - o.load); }));
  CHECK(refused([](auto& o) { o.max_duration_s = 0; }));
  CHECK(refused([](auto& o) { o.mean_duration_s = 1e6; }));
}

TEST_CASE("a summary counts what is there, and nothing in an empty trace") {
  CHECK(summarize({}).gpu_hours == 0);
  CHECK(offered_load(summarize({}), 8) == 0);
  Trace trace;
  for (int i = 0; i < 4; ++i) {
    TraceJob& job = trace.jobs.emplace_back();
    job.submit = std::chrono::seconds(i * 100);
    job.spec.gpus_per_worker = 2;
    job.spec.duration = std::chrono::seconds(450 * (i + 1));
  }
  const TraceSummary s = summarize(trace);
  CHECK(s.gpu_hours == doctest::Approx(2.5));
  CHECK(s.span_s == 300);
  CHECK(s.interarrival_cv == 0);
  CHECK(s.duration_s.p50 == 900);
  CHECK(s.duration_s.p99 == 1800);
  CHECK(s.duration_s.mean == 1125);
  CHECK(s.gangs.at(2) == 4);
  CHECK(offered_load(s, 100) == doctest::Approx(0.3));
}
