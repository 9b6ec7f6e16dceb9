// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "policies/fractional/demand.h"

namespace starling {

// For tests: demands and clusters in few words.

inline PodDemand sharing(std::uint32_t gpu_milli, std::int64_t cpu_milli = 1000,
                         std::uint32_t count = 1) {
  return {cpu_milli, 1024, 1, gpu_milli, ~ModelSet{0}, count};
}
inline PodDemand whole(std::uint32_t gpus, std::int64_t cpu_milli = 1000, std::uint32_t count = 1) {
  return {cpu_milli, 1024, gpus, kWholeGpu, ~ModelSet{0}, count};
}
inline PodDemand no_gpu(std::int64_t cpu_milli = 1000, std::uint32_t count = 1) {
  return {cpu_milli, 1024, 0, 0, ~ModelSet{0}, count};
}

/// Pod i asks for demand i.
inline Demands demands_of(std::vector<PodDemand> all) {
  Demands demands;
  demands.all = std::move(all);
  demands.of_pod.resize(demands.all.size());
  std::iota(demands.of_pod.begin(), demands.of_pod.end(), 0U);
  return demands;
}

/// Nodes of 32 CPUs and 64 GiB with these numbers of GPUs, all of model 0.
inline ClusterSpec cluster_of(std::initializer_list<std::uint32_t> gpus) {
  ClusterSpec cluster;
  cluster.models = {"T4", "V100M16"};
  for (const std::uint32_t n : gpus)
    cluster.nodes.push_back({"n" + std::to_string(cluster.nodes.size()), 32'000, 65'536, n, 0});
  return cluster;
}

/// Some nodes of every size, both models, CPUs and memory that run out before or after the GPUs.
inline ClusterSpec random_cluster(Rng& rng) {
  ClusterSpec cluster = cluster_of({});
  const std::uint32_t nodes = 2 + rng.below(12);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    cluster.nodes.push_back({"n" + std::to_string(i), 4000 * (1 + rng.below(16)),
                             8192 * (1 + rng.below(8)), rng.below(9), rng.below(2)});
  }
  return cluster;
}

inline Demands random_demands(Rng& rng) {
  std::vector<PodDemand> all;
  const std::uint32_t many = 1 + rng.below(20);
  for (std::uint32_t i = 0; i < many; ++i) {
    const std::uint32_t gpus = rng.below(4);
    PodDemand d{1000 * rng.below(12), 1024 * rng.below(20), gpus, 0,
                ~ModelSet{0},         1 + rng.below(9)};
    if (gpus > 0) d.gpu_milli = gpus > 1 ? kWholeGpu : 1 + rng.below(kWholeGpu);
    if (gpus > 0 && rng.chance(0.3)) d.models = 1 + rng.below(3);
    all.push_back(d);
  }
  return demands_of(std::move(all));
}

}  // namespace starling
