#include "gnn/train/samples.h"

#include <algorithm>

#include "base/rng.h"
#include "gnn/speed_features.h"
#include "interference/models.h"
#include "topology/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

constexpr std::uint32_t kSamplesPerTopology = 40;

Topology random_topology(Rng& rng) {
  GeneratorOptions options;
  options.groups = {{4 + rng.below(8), "V100"}};
  if (rng.chance(0.5))
    options.groups.push_back({2 + rng.below(6), rng.chance(0.5) ? "P100" : "A100"});
  options.gpus_per_server = rng.chance(0.7) ? 8 : 4;
  options.servers_per_rack = 2 + rng.below(3);
  const double nics[] = {10, 25, 50, 100};
  options.nic_gbps = nics[rng.below(4)];
  options.cpus = rng.chance(0.5) ? 64 : 32;
  return generate_leaf_spine(options).value();
}

JobProfile random_job(Rng& rng, std::uint32_t gpus) {
  const auto models = catalogue();
  JobProfile job;
  job.model = std::string(models[rng.below(static_cast<std::uint32_t>(models.size()))].name);
  job.gpus = gpus;
  if (rng.chance(0.3)) job.cpus_per_gpu = 1 + 7 * rng.uniform();
  return job;
}

/// `count` GPUs that nobody has: in a row from a random start, or scattered.
Placement take_random(Rng& rng, std::vector<std::uint32_t>& free, std::uint32_t count) {
  Placement out;
  const bool scattered = rng.chance(0.3);
  std::uint32_t at = rng.below(static_cast<std::uint32_t>(free.size()));
  for (std::uint32_t i = 0; i < count && !free.empty(); ++i) {
    const auto size = static_cast<std::uint32_t>(free.size());
    at = scattered ? rng.below(size) : at % size;
    out.push_back(GpuId{free[at]});
    free.erase(free.begin() + at);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::uint32_t random_gang(Rng& rng) {
  const std::uint32_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 16, 32};
  return sizes[rng.below(10)];
}

}  // namespace

SpeedSamples make_speed_samples(std::uint32_t count, std::uint64_t seed) {
  SpeedSamples out;
  Rng rng(seed, 0x5eed);
  while (out.size() < count) {
    const Topology topology = random_topology(rng);
    const auto speed = make_analytic_speed(topology);
    for (std::uint32_t i = 0; i < kSamplesPerTopology && out.size() < count; ++i) {
      std::vector<std::uint32_t> free(topology.gpu_count());
      for (std::uint32_t g = 0; g < free.size(); ++g) free[g] = g;
      const Placement placement =
          take_random(rng, free, std::min(random_gang(rng), topology.gpu_count()));
      const JobProfile job = random_job(rng, static_cast<std::uint32_t>(placement.size()));
      Neighbours beside;
      for (std::uint32_t n = rng.below(6); n > 0 && !free.empty(); --n) {
        Placement other = take_random(rng, free, random_gang(rng));
        const JobProfile profile = random_job(rng, static_cast<std::uint32_t>(other.size()));
        beside.push_back({profile, std::move(other)});
      }
      const auto features = speed_features(topology, job, placement, beside);
      out.features.insert(out.features.end(), features.begin(), features.end());
      out.relative.push_back(static_cast<float>(speed->speed(job, placement, beside).relative));
    }
  }
  return out;
}

}  // namespace starling
