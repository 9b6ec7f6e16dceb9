// SPDX-License-Identifier: Apache-2.0
// What a plan of `rank` takes, and how far its division is from the best of that moment.
//
// plan: on so many GPUs of three types, half of them of one, for so many jobs, of which four of
// five are elastic. Every round one of a hundred jobs ends and as many come; `event` is what a call
// between rounds takes in which one has come. Of the figures CPU is what a busy machine leaves
// comparable. `shares`: two jobs may have the same GPUs, as under `starling`.
//
// event: a call between rounds at 1,024 servers whose GPUs are all taken, in which a job has come
// or, every other time, ended: half of the calls take `p50_us` at most.
//
// first: what the arrival of the first job of a kind takes that may have so many workers, on 8,192
// idle GPUs of three types: its speed with each size is asked for.
//
// gap: the sum of rank x least_gpu_s x speed that divide_by_rank() reaches, below the most that any
// sizes reach, which an integer program finds; in per cent, mean and worst of the problems.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "bench/timed_round.h"
#include "interference/models.h"
#include "policies/programs/integer.h"
#include "policies/rank/rank.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

JobSpec random_job(Rng& rng) {
  JobSpec job;
  job.model = kBenchModels[rng.below(6)];
  job.user = std::to_string(rng.below(200));
  job.workers = rng.chance(0.7) ? 1 : 1U << rng.below(5);
  job.min_workers = 1;
  job.max_workers = job.workers * 2;
  if (!rng.chance(0.8)) job.min_workers = job.max_workers = 0;
  job.duration = from_seconds(600 + 20'000 * rng.exponential());
  return job;
}

/// Of one of the models of which pairs on a GPU were measured.
JobSpec job_that_shares(Rng& rng) {
  JobSpec job = random_job(rng);
  const auto models = gavel_models();
  job.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  return job;
}

struct RankRig : PolicyRig {
  RankRig(std::uint32_t of_gpus, bool shares)
      : PolicyRig(three_types(of_gpus),
                  std::make_unique<RankPolicy>(RankOptions{.believes = true, .shares = shares}),
                  {0, of_gpus / 8}, shares ? 2 : 1),
        make(shares ? job_that_shares : random_job),
        model(make_analytic_speed(topology)) {
    speed = model.get();
  }
  void fill(std::size_t count, Rng& draws) {
    while (jobs.size() < count) submit(make(draws));
    round(Duration{0});
    for (int warm = 0; warm < 3; ++warm) {
      pass(std::chrono::seconds(120));
      settle(TriggerKind::round);
    }
  }
  JobSpec (*make)(Rng&);
  std::unique_ptr<SpeedModel> model;
};

void plan(benchmark::State& state) {
  const auto jobs = static_cast<std::size_t>(state.range(1));
  RankRig rig(static_cast<std::uint32_t>(state.range(0)), state.range(2) == 1);
  Rng rng(1);
  rig.fill(jobs, rng);
  double longest = 0, event = 0;
  for (auto _ : state) {
    state.PauseTiming();
    change_jobs(rig, std::max<std::size_t>(jobs / 100, 1), rng, rig.make);
    rig.pass(std::chrono::seconds(120));
    timed_decision(rig, TriggerKind::round, longest, &state);
    rig.settle(TriggerKind::departure);
    change_jobs(rig, 1, rng, rig.make);
    rig.pass(std::chrono::seconds(1));
    timed_decision(rig, TriggerKind::arrival, event);
    state.ResumeTiming();
  }
  std::size_t running = 0;
  for (const JobView& job : rig.jobs) running += job.placement.empty() ? 0 : 1;
  state.counters["running"] = static_cast<double>(running);
  state.counters["longest_ms"] = longest;  // of CPU
  state.counters["event_ms"] = event;
}
BENCHMARK(plan)
    ->ArgNames({"gpus", "jobs", "shares"})
    ->Args({512, 300, 0})
    ->Args({4096, 2500, 0})
    ->Args({32'768, 12'000, 0})
    ->Args({800, 600, 1})
    ->Args({4096, 2500, 1})
    ->Args({16'384, 14'000, 1})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);

void event(benchmark::State& state) {
  RankRig rig(8192, state.range(0) == 1);
  Rng rng(1);
  rig.fill(7000, rng);
  std::vector<double> took;
  bool comes = true;
  for (auto _ : state) {
    state.PauseTiming();
    if (comes) {
      rig.submit(rig.make(rng));
    } else {
      rig.end(rng.below(static_cast<std::uint32_t>(rig.jobs.size())));
    }
    rig.pass(std::chrono::milliseconds(100));
    double longest = 0;
    timed_decision(rig, comes ? TriggerKind::arrival : TriggerKind::departure, longest, &state);
    took.push_back(1e3 * longest);
    comes = !comes;
    state.ResumeTiming();
  }
  std::ranges::sort(took);
  state.counters["p50_us"] = took[took.size() / 2];
  state.counters["p95_us"] = took[took.size() * 95 / 100];
}
BENCHMARK(event)->ArgName("shares")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond)->Iterations(100);

void first(benchmark::State& state) {
  const Topology topology = three_types(8192);
  const auto model = make_analytic_speed(topology);
  double longest = 0, took = 0;
  for (auto _ : state) {
    state.PauseTiming();
    PolicyRig rig(topology, std::make_unique<RankPolicy>(RankOptions{.believes = true}));
    rig.speed = model.get();
    JobSpec job;
    job.model = "resnet50";
    job.duration = from_seconds(1000);
    rig.submit(job);
    rig.round();
    rig.end(0);
    job.min_workers = 1;
    job.max_workers = static_cast<std::uint32_t>(state.range(0));
    rig.submit(job);
    const double came = cpu_ms();
    state.ResumeTiming();
    benchmark::DoNotOptimize(rig.decide(TriggerKind::arrival));
    state.PauseTiming();
    took += cpu_ms() - came;
    longest = std::max(longest, cpu_ms() - came);
    state.ResumeTiming();
  }
  state.counters["cpu_ms"] = took / static_cast<double>(state.iterations());
  state.counters["longest_ms"] = longest;
}
BENCHMARK(first)
    ->Arg(32)
    ->Arg(64)
    ->Arg(512)
    ->Arg(2048)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5);

/// What the answer is worth in the sum that the program maximises.
double worth_of(const RankProblem& problem, const RankAnswer& answer) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
    if (answer.grants[i])
      sum += answer.rank[i] * problem.jobs[i].least_gpu_s * answer.grants[i]->speed;
  }
  return sum;
}

double most_worth(const RankProblem& problem, const std::vector<double>& rank) {
  LinearProgram program;
  for (const std::uint32_t free : problem.free)
    program.rows.push_back({{}, -LinearProgram::kInfinity, static_cast<double>(free)});
  for (std::size_t i = 0; i < problem.jobs.size(); ++i) {
    const RankJob& job = problem.jobs[i];
    LinearProgram::Row once{{}, -LinearProgram::kInfinity, 1};
    for (std::size_t t = 0; t < job.sizes.size(); ++t) {
      for (const RankSize size : job.sizes[t]) {
        const auto x = static_cast<std::uint32_t>(program.variables.size());
        program.variables.push_back({rank[i] * job.least_gpu_s * size.speed, 1, true});
        program.rows[t].terms.emplace_back(x, size.gpus);
        once.terms.emplace_back(x, 1);
      }
    }
    program.rows.push_back(std::move(once));
  }
  const auto best = solve_integer(program, {1e-4, 20'000});
  if (!best) return 0;
  double sum = 0;
  for (std::size_t x = 0; x < program.variables.size(); ++x)
    sum += program.variables[x].gain * best.value().values[x];
  return sum;
}

void gap(benchmark::State& state) {
  const auto jobs = static_cast<std::size_t>(state.range(0));
  const bool one_type = state.range(1) == 1;
  GeneratorOptions options;
  options.groups = {{16, "V100"}};
  if (!one_type)
    options.groups = {{9, "V100"}, {9, "P100"}, {9, "K80"}}, options.gpus_per_server = 4;
  const Topology topology = generate_flat(options).value();
  const auto model = make_analytic_speed(topology);
  const Occupancy empty(topology, {0, topology.server_count()});
  const View view{topology, empty, {}, {}, {}, *model, Instant{}, AgentId{0}};
  Rng rng(1);
  double sum = 0, worst = 0, problems = 0;
  for (auto _ : state) {
    RankCurves curves;
    std::vector<std::shared_ptr<const RankSpeeds>> speeds;
    RankProblem problem;
    problem.cost = type_costs(topology, 0.1 * static_cast<double>(state.range(2)));
    problem.free.assign(topology.gpu_types().size(), 0);
    for (const Server& server : topology.servers())
      problem.free[server.gpu_type.value] += server.gpus.size();
    for (std::size_t i = 0; i < jobs; ++i) {
      const JobSpec spec = random_job(rng);
      speeds.push_back(curves.of(view, shape_of(empty), empty, spec));
      RankJob& job = problem.jobs.emplace_back();
      for (const auto& sizes : speeds.back()->sizes) job.sizes.emplace_back(sizes);
      job.left_s = seconds(spec.duration);
      job.least_gpu_s = speeds.back()->least_gpu_s;
    }
    const RankAnswer answer = divide_by_rank(problem);
    const double short_of =
        100 * (1 - worth_of(problem, answer) / most_worth(problem, answer.rank));
    sum += short_of, ++problems;
    worst = std::max(worst, short_of);
  }
  state.counters["gap_percent"] = sum / problems;
  state.counters["worst_percent"] = worst;
}
BENCHMARK(gap)
    ->ArgNames({"jobs", "one_type", "ten_times_types"})
    ->Args({40, 1, 6})
    ->Args({150, 1, 6})
    ->Args({40, 0, 6})
    ->Args({80, 0, 6})
    ->Args({150, 0, 6})
    ->Args({300, 0, 6})
    ->Args({40, 0, 10})
    ->Args({150, 0, 10})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);

}  // namespace
}  // namespace starling
