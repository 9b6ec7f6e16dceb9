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

void number_kinds(Demands& demands) {
  demands.kinds.clear();
  for (const PodDemand& d : demands.all) demands.kinds.push_back({d.gpus, d.gpu_milli});
  std::sort(demands.kinds.begin(), demands.kinds.end());
  demands.kinds.erase(std::unique(demands.kinds.begin(), demands.kinds.end()), demands.kinds.end());
  for (PodDemand& d : demands.all) {
    const auto at = std::lower_bound(demands.kinds.begin(), demands.kinds.end(),
                                     GpuDemand{d.gpus, d.gpu_milli});
    d.kind = static_cast<std::uint32_t>(at - demands.kinds.begin());
  }
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
      demands.all.push_back({pod.cpu_milli, pod.memory_mib, pod.gpus, pod.gpu_milli, models, 0, 0});
    }
    ++demands.all[at->second].count;
    demands.of_pod.push_back(at->second);
  }
  number_kinds(demands);
  demands.nowhere.assign(nowhere.begin(), nowhere.end());
  return demands;
}

}  // namespace starling
