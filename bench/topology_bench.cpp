// SPDX-License-Identifier: Apache-2.0
// What a data centre costs against its size: loading its file, and one event of its occupancy (a
// gang of 1 to 4 GPUs placed by best fit in a cluster that is 3/4 full, and given back).
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"
#include "topology/occupancy.h"

namespace starling {
namespace {

Topology data_centre(benchmark::State& state) {
  const auto servers = static_cast<std::uint32_t>(state.range(0) / 8);
  auto made = generate_leaf_spine({.servers = servers, .servers_per_rack = 16});
  return std::move(made.value());
}

void BM_Load(benchmark::State& state) {
  const std::string text = to_yaml(data_centre(state));
  for (auto _ : state) benchmark::DoNotOptimize(parse_topology(text, "bench.yaml"));
}

void BM_OccupancyEvent(benchmark::State& state) {
  const Topology topology = data_centre(state);
  Occupancy occupancy(topology, {0, topology.server_count()});
  Rng rng(1);
  std::vector<GpuId> some;
  for (std::uint32_t g = 0; g < topology.gpu_count(); ++g) {
    if (rng.below(4) != 0) some.push_back(GpuId(g));
  }
  occupancy.take(some);
  const std::uint32_t sizes[] = {1, 2, 1, 3, 1, 2, 4, 1};
  std::size_t at = 0;
  for (auto _ : state) {
    const std::uint32_t wanted = sizes[at++ % std::size(sizes)];
    const auto server = occupancy.best_fit(wanted);
    if (!server) continue;
    const std::vector<GpuId> gang = occupancy.free_gpus(*server, wanted);
    occupancy.take(gang);
    benchmark::DoNotOptimize(occupancy.free_histogram());
    occupancy.give_back(gang);
  }
}

BENCHMARK(BM_Load)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_OccupancyEvent)->Arg(1'000)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace starling
