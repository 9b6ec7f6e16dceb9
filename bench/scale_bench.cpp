// SPDX-License-Identifier: Apache-2.0
// What one event of a running cluster costs against its size: CPU time of the simulated world,
// agents, executors, codec and driver included, per event of its queue. docs/results/scale.md is
// made from it.
//
// The work is the same at every size: gangs of 1 to 16 GPUs (mean 4.1), exponential durations of an
// hour on average, and Poisson arrivals that offer 93 % of the cluster, in turn 60 % more and less
// than that for a quarter of an hour, so that queues build up and empty. The cluster is filled
// first; measured is what follows, up to the last arrival.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include "base/rng.h"
#include "policies/registry.h"
#include "scheduling/packing.h"
#include "sim/world/world.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

constexpr double kMeanGpus = 4.1;
constexpr double kMeanSeconds = 3600;
constexpr double kLoad = 0.93;
constexpr double kSwing = 0.6;
constexpr double kHalfPeriodSeconds = 900;
constexpr double kFillSeconds = 60;
constexpr double kSettleSeconds = 900;
constexpr std::uint32_t kMeasuredJobs = 15'000;

template <class T>
T need(Result<T> result) {
  if (!result.ok()) {
    std::cerr << result.error().message << '\n';
    std::exit(1);
  }
  return std::move(result.value());
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Topology data_centre(std::int64_t gpus) {
  const auto servers = static_cast<std::uint32_t>(gpus / 8);
  return need(generate_leaf_spine({.servers = servers, .servers_per_rack = 16}));
}

std::uint32_t gang(Rng& rng) {
  const double x = rng.uniform();
  return x < 0.40 ? 1 : x < 0.55 ? 2 : x < 0.70 ? 4 : x < 0.95 ? 8 : 16;
}

/// As many jobs as fill the cluster in the first minute, then kMeasuredJobs and those that arrive
/// while it settles.
Trace steady_trace(std::uint32_t gpus) {
  Rng rng(1);
  Trace trace;
  const double filling = kLoad * gpus / kMeanGpus;
  const double per_second = filling / kMeanSeconds;
  const auto all =
      static_cast<std::uint64_t>(filling + per_second * kSettleSeconds) + kMeasuredJobs;
  double at = 0;
  for (std::uint64_t i = 0; i < all; ++i) {
    const bool fills = static_cast<double>(i) < filling;
    const bool high = std::fmod(at / kHalfPeriodSeconds, 2) < 1;
    const double rate =
        fills ? filling / kFillSeconds : per_second * (high ? 1 + kSwing : 1 - kSwing);
    at += -std::log(1 - rng.uniform()) / rate;
    TraceJob job;
    job.submit = from_seconds(at);
    const std::uint32_t size = gang(rng);
    job.spec.id = trace_job_id(i);
    job.spec.name = std::to_string(i);
    job.spec.gpus_per_worker = std::min(size, 8U);
    job.spec.workers = size / job.spec.gpus_per_worker;
    job.spec.duration = from_seconds(1 - std::log(1 - rng.uniform()) * kMeanSeconds);
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

/// Jobs waiting and GPUs busy, on average from `from_s` on.
void average(benchmark::State& state, const RunResult& run, double from_s, double to_s) {
  double waiting = 0;
  double busy = 0;
  for (std::size_t i = 0; i < run.timeline.size(); ++i) {
    const double begin = std::max(run.timeline[i].at_s, from_s);
    const double end =
        i + 1 < run.timeline.size() ? std::min(run.timeline[i + 1].at_s, to_s) : to_s;
    if (end <= begin) continue;
    waiting += run.timeline[i].waiting * (end - begin);
    busy += run.timeline[i].busy_gpus * (end - begin);
  }
  state.counters["waiting"] = waiting / (to_s - from_s);
  state.counters["busy"] = busy / (to_s - from_s) / run.gpus;
}

void event(benchmark::State& state, const std::string& policy, PhysicsKind physics) {
  const Topology topology = data_centre(state.range(0));
  const Trace trace = steady_trace(topology.gpu_count());
  const PolicyRegistry policies = make_policy_registry();
  SimOptions options;
  options.policy = policy;
  options.agents = static_cast<std::uint32_t>(state.range(1));
  options.servers_per_executor = std::max(8U, (topology.server_count() + 15) / 16);
  options.physics = physics;
  if (physics == PhysicsKind::full) options.network = NetworkModel::lan();
  const Duration last = trace.jobs.back().submit;
  for (auto _ : state) {
    const auto world = need(World::make(topology, trace, policies, options, false));
    const Instant from(from_seconds(kFillSeconds + kSettleSeconds));
    while (world->now() < from && need(world->step())) {
    }
    std::uint64_t events = 0;
    const double before = cpu_seconds();
    for (; world->now() < Instant(last) && need(world->step()); ++events) {
    }
    const double spent = cpu_seconds() - before;
    state.SetIterationTime(spent / static_cast<double>(events));
    state.counters["events"] = static_cast<double>(events);
    average(state, world->result(), seconds(from.time_since_epoch()), seconds(last));
  }
}

const bool registered = [] {
  const auto add = [](const std::string& policy, PhysicsKind physics) {
    const std::string how = physics == PhysicsKind::full ? "full" : "trace";
    auto* bench = benchmark::RegisterBenchmark(("event/" + policy + "/" + how).c_str(), event,
                                               policy, physics);
    bench->ArgsProduct({{1'000, 3'000, 10'000, 30'000, 100'000}, {1, 8}});
    bench->ArgNames({"gpus", "agents"})->UseManualTime()->Iterations(1);
    bench->Unit(benchmark::kMicrosecond);
  };
  for (const char* policy : {"fifo", "sjf", "easy", "srtf", "tiresias-las", "consolidate",
                             "load-balance", "lif", "tetris"}) {
    add(policy, PhysicsKind::trace);
  }
  for (const char* policy : {"fifo", "consolidate"}) add(policy, PhysicsKind::full);
  return true;
}();

/// A gang placed by best fit in a cluster of which 97 % is taken, on a mirror: what each try costs,
/// and being equal again.
void trial(benchmark::State& state) {
  const Topology topology = data_centre(state.range(0));
  Occupancy gpus(topology, {0, topology.server_count()});
  const Shape shape = shape_of(gpus);
  Rng rng(1);
  for (std::uint32_t g = 0; g < topology.gpu_count(); ++g) {
    if (rng.below(100) < 97) gpus.take(std::vector{GpuId(g)});
  }
  Mirror mirror;
  for (auto _ : state) {
    Trial promised(mirror, gpus);
    for (const std::uint32_t wanted : {1U, 2U, 1U}) {
      if (const auto found = place_server(promised.gpus(), shape, wanted, 1)) promised.take(*found);
    }
    benchmark::DoNotOptimize(promised.free_count());
  }
}
BENCHMARK(trial)->Arg(1'000)->Arg(10'000)->Arg(100'000);

/// A gang of several servers on whole ones and the rest by best fit, half of the servers being
/// free.
void place_large(benchmark::State& state) {
  const Topology topology = data_centre(state.range(0));
  Occupancy gpus(topology, {0, topology.server_count()});
  const Shape shape = shape_of(gpus);
  for (std::uint32_t g = 0; g < topology.gpu_count(); g += 16) gpus.take(std::vector{GpuId(g)});
  for (auto _ : state) benchmark::DoNotOptimize(place_server(gpus, shape, 20, 4));
}
BENCHMARK(place_large)->Arg(1'000)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace starling
