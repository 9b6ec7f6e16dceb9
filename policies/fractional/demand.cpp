// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/demand.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "topology/gpu_catalogue.h"

namespace starling {
namespace {

// Typical pods cover at least 95 % of a list.
constexpr std::size_t kTypical = 95;
constexpr std::size_t kAll = 100;

ModelSet model_set(const Pod& pod, const ClusterSpec& cluster, std::set<std::string>& nowhere) {
  if (pod.gpu_models.empty()) return ~ModelSet{0};
  ModelSet models = 0;
  for (const std::string& label : pod.gpu_models) {
    // Node lists name the same type in the same way.
    const auto known = gpu_type_in(label);
    const auto at =
        std::find(cluster.models.begin(), cluster.models.end(), known ? known->name : label);
    if (at == cluster.models.end()) {
      nowhere.insert(label);
    } else {
      models |= ModelSet{1} << static_cast<unsigned>(at - cluster.models.begin());
    }
  }
  return models;
}

}  // namespace

std::int64_t ClusterSpec::gpu_milli() const noexcept {
  std::int64_t milli = 0;
  for (const NodeSpec& node : nodes) milli += std::int64_t{node.gpus} * kWholeGpu;
  return milli;
}

Result<ClusterSpec> cluster_spec(const Topology& topology) {
  if (topology.gpu_count() == 0)
    return {Errc::invalid, topology.name() + " has no GPU; give a data centre that has some"};
  if (topology.gpu_types().size() > kModelsMost) {
    return {Errc::invalid, topology.name() + " has " + std::to_string(topology.gpu_types().size()) +
                               " GPU types; give at most " + std::to_string(kModelsMost)};
  }
  ClusterSpec cluster;
  for (const GpuType& type : topology.gpu_types()) cluster.models.push_back(type.name);
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() > kNodeGpusMost) {
      return {Errc::invalid, "server '" + server.name + "' has " +
                                 std::to_string(server.gpus.size()) +
                                 " GPUs; a server may have up to " + std::to_string(kNodeGpusMost)};
    }
    cluster.nodes.push_back({server.name, std::llround(server.cpus * 1000),
                             std::llround(server.memory_gib * 1024), server.gpus.size(),
                             server.gpus.size() == 0 ? 0U : server.gpu_type.value});
  }
  return cluster;
}

Demands find_demands(std::span<const Pod> pods, const ClusterSpec& cluster) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t, ModelSet>;
  Demands demands;
  std::map<Key, std::uint32_t> found;
  std::set<std::string> nowhere;
  demands.of_pod.reserve(pods.size());
  for (const Pod& pod : pods) {
    const ModelSet models = model_set(pod, cluster, nowhere);
    const Key key{pod.gpus, pod.gpu_milli, pod.cpu_milli, pod.memory_mib, models};
    const auto [at, is_new] =
        found.try_emplace(key, static_cast<std::uint32_t>(demands.all.size()));
    if (is_new) {
      demands.all.push_back({pod.cpu_milli, pod.memory_mib, pod.gpus, pod.gpu_milli, models, 0});
    }
    ++demands.all[at->second].count;
    demands.of_pod.push_back(at->second);
  }
  demands.nowhere.assign(nowhere.begin(), nowhere.end());
  return demands;
}

std::vector<PodDemand> typical_demands(std::span<const Pod> pods, const ClusterSpec& cluster) {
  struct Popular {
    std::uint32_t count = 0;
    const Pod* pod = nullptr;
  };
  using Key =
      std::tuple<std::int64_t, std::uint32_t, std::uint32_t, const std::vector<std::string>&>;
  const auto key = [](const Pod& p) { return Key(p.cpu_milli, p.gpu_milli, p.gpus, p.gpu_models); };
  const auto less = [&](const Pod* a, const Pod* b) { return key(*a) < key(*b); };
  std::map<const Pod*, std::uint32_t, decltype(less)> counts(less);
  for (const Pod& pod : pods) ++counts[&pod];
  std::vector<Popular> order;
  order.reserve(counts.size());
  for (const auto& [pod, count] : counts) order.push_back({count, pod});
  std::sort(order.begin(), order.end(), [&](const Popular& a, const Popular& b) {
    return a.count != b.count ? a.count > b.count : less(b.pod, a.pod);
  });
  std::vector<PodDemand> typical;
  std::set<std::string> nowhere;  // those who place the pods say so
  std::size_t covered = 0;
  for (const Popular& kind : order) {
    if (covered * kAll >= pods.size() * kTypical) break;
    covered += kind.count;
    typical.push_back({kind.pod->cpu_milli, 0, kind.pod->gpus, kind.pod->gpu_milli,
                       model_set(*kind.pod, cluster, nowhere), kind.count});
  }
  return typical;
}

}  // namespace starling
