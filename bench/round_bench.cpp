// SPDX-License-Identifier: Apache-2.0
// What one round costs of policies that decide anew about everybody: so many jobs run on two GPUs
// each on average, a tenth as many wait, on servers of three GPU types. docs/results/smd.md and
// docs/results/hadar.md have the figures.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "interference/models.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr const char* kPolicies[] = {"optimus", "smd", "smd:menu=yes", "gavel", "hadar", "hadare"};
constexpr const char* kModels[] = {"resnet50", "vgg16", "bert-base", "resnet18", "neumf"};

JobSpec some_job(Rng& rng, std::uint64_t number) {
  JobSpec job;
  job.id = JobId{1, number};
  job.model = kModels[rng.below(5)];
  const double x = rng.uniform();
  job.workers = x < 0.6 ? 1 : x < 0.8 ? 2 : x < 0.95 ? 4 : 8;
  job.min_workers = 1;
  job.max_workers = 2 * job.workers;
  job.duration = from_seconds(600 + 36'000 * rng.uniform());
  job.run.copies = rng.chance(0.5);
  if (rng.chance(0.5)) job.run.max_servers = 16, job.run.server_cpus = 1;
  return job;
}

/// A partition in which `running` jobs run and a tenth as many wait.
struct Scene {
  explicit Scene(std::uint32_t running)
      : topology(data_centre(running)),
        gpus(topology, {0, topology.server_count()}),
        speed(make_analytic_speed(topology)) {
    Rng rng(1);
    specs.resize(running + running / 10);
    for (std::uint32_t i = 0; i < specs.size(); ++i) {
      specs[i] = some_job(rng, i + 1);
      JobView view;
      view.spec = &specs[i];
      view.order = i + 1;
      view.served = std::chrono::minutes(10);
      const auto place = i < running ? gpus.best_fit(specs[i].gpus()) : std::nullopt;
      if (place) {
        view.placement = gpus.free_gpus(*place, specs[i].gpus());
        gpus.take(view.placement, demand_of(specs[i]));
      }
      (place ? runs : waits).push_back(view);
    }
  }
  static Topology data_centre(std::uint32_t running) {
    GeneratorOptions options;
    const std::uint32_t servers = running / 4 / 3;  // of eight GPUs, for each type
    options.groups = {{servers, "V100"}, {servers, "P100"}, {servers, "K80"}};
    options.gpus_per_server = 8;
    auto made = generate_leaf_spine(options);
    if (made.ok()) return std::move(made).value();
    std::cerr << made.error().message << '\n';
    std::exit(1);
  }
  Topology topology;
  Occupancy gpus;
  std::unique_ptr<SpeedModel> speed;
  std::vector<JobSpec> specs;
  std::vector<JobView> runs, waits;
};

void BM_Round(benchmark::State& state) {
  const std::string name = kPolicies[state.range(0)];
  Scene scene(static_cast<std::uint32_t>(state.range(1)));
  const PolicyRegistry registry = make_policy_registry();
  const auto policy = registry.make(name).value();
  Rng rng(1);
  Instant now = Instant{} + std::chrono::hours(1);
  std::size_t decisions = 0;
  for (auto _ : state) {
    const View view{scene.topology, scene.gpus, scene.waits, scene.runs, {},
                    *scene.speed,   now,        AgentId{0}};
    decisions = policy->decide(view, {TriggerKind::round}, rng).size();
    now += std::chrono::hours(1);
  }
  state.SetLabel(name);
  state.counters["running"] = static_cast<double>(scene.runs.size());
  state.counters["decisions"] = static_cast<double>(decisions);
}
BENCHMARK(BM_Round)
    ->ArgsProduct({{0, 1, 2, 3, 4, 5}, {1'000, 10'000}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

}  // namespace
}  // namespace starling
