// SPDX-License-Identifier: Apache-2.0
// What a round of Sia takes: on so many GPUs of three types, half of them of one, for so many jobs,
// of which four of five are elastic; 1: whose speeds are measured, 0: as the speed model says.
// Every round two of a hundred jobs end and as many come. Of the figures CPU is what a busy machine
// leaves comparable.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "bench/timed_round.h"
#include "interference/models.h"
#include "interference/profile.h"
#include "policies/sia/test_sia_rig.h"

namespace starling {
namespace {

JobSpec random_job(Rng& rng) {
  JobSpec job;
  job.model = kBenchModels[rng.below(6)];
  job.min_workers = 1;
  job.workers = 1U << rng.below(4);
  job.max_workers = job.workers * 4;
  if (!rng.chance(0.8)) job.min_workers = job.max_workers = 0;
  job.duration = std::chrono::hours(1);
  return job;
}

/// Every job gets on as the model says it does.
void measure(SiaRig& rig) {
  for (JobView& job : rig.jobs) {
    if (job.placement.empty()) continue;
    const auto gpus = static_cast<std::uint32_t>(job.placement.size());
    job.pace =
        progress_rate(*rig.speed, profile_of(*job.spec, gpus), job.placement, {}, job.allocation);
    job.measured_at = rig.now;
  }
}

void round_of_sia(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const auto jobs = static_cast<std::size_t>(state.range(1));
  SiaOptions sia;
  sia.goodputs = {true, state.range(2) == 1};
  SiaRig rig(three_types(gpus), sia);
  const auto model = make_analytic_speed(rig.topology);
  rig.speed = model.get();
  Rng rng(1);
  while (rig.jobs.size() < jobs) rig.submit(random_job(rng));
  const auto rest_of_round = [&] {
    rig.round(Duration{0});
    measure(rig);
    for (std::size_t fits = 0; fits < jobs; ++fits) rig.policy->learn();
  };
  for (int warm = 0; warm < 10; ++warm) {
    rig.now += std::chrono::seconds(60);
    rest_of_round();
  }
  double longest = 0;
  for (auto _ : state) {
    state.PauseTiming();
    change_jobs(rig, std::max<std::size_t>(jobs / 50, 1), rng, random_job);
    rig.now += std::chrono::seconds(60);
    timed_decision(rig, TriggerKind::round, longest, &state);
    rest_of_round();
    state.ResumeTiming();
  }
  state.counters["longest_ms"] = longest;  // of CPU
}
BENCHMARK(round_of_sia)
    ->Args({64, 40, 0})
    ->Args({512, 300, 0})
    ->Args({512, 300, 1})
    ->Args({512, 1000, 0})
    ->Args({2048, 1000, 0})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(60);

}  // namespace
}  // namespace starling
