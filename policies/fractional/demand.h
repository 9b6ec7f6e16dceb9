// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "topology/topology.h"
#include "workload/traces/pod_list.h"

namespace starling {

/// A set of the GPUs of one node: bit i is its GPU i.
using GpuSet = std::uint64_t;
/// A set of GPU models: bit i is ClusterSpec::models[i].
using ModelSet = std::uint64_t;
constexpr std::uint32_t kNodeGpusMost = 64;
constexpr std::uint32_t kModelsMost = 64;
constexpr std::uint32_t kWholeGpu = 1000;  ///< thousandths

/// A server as pods see it, whole and empty.
struct NodeSpec {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::uint32_t gpus = 0;   ///< at most kNodeGpusMost
  std::uint32_t model = 0;  ///< index into ClusterSpec::models; meaningless without GPUs
};

struct ClusterSpec {
  std::vector<std::string> models;  ///< at most kModelsMost
  std::vector<NodeSpec> nodes;

  [[nodiscard]] std::int64_t gpu_milli() const noexcept;  ///< of all GPUs
};

/// The servers of a data centre, in its order. `invalid` for more GPUs in a server or more GPU
/// types than sets can hold, and for a data centre without GPUs.
[[nodiscard]] Result<ClusterSpec> cluster_spec(const Topology& topology);

/// What equal pods ask for, and how many of them there are.
struct PodDemand {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::uint32_t gpus = 0;
  std::uint32_t gpu_milli = 0;  ///< of each of them; below 1000 only if gpus is 1
  ModelSet models = ~ModelSet{0};
  std::uint32_t count = 1;  ///< how popular it is, as a number of pods

  [[nodiscard]] std::int64_t total_gpu_milli() const noexcept {
    return std::int64_t{gpus} * gpu_milli;
  }
  [[nodiscard]] bool shares_gpu() const noexcept { return gpus == 1 && gpu_milli < kWholeGpu; }
  /// Of pods with a GPU: 0 for all that share one, else the number of whole ones.
  [[nodiscard]] std::uint32_t kind() const noexcept { return shares_gpu() ? 0 : gpus; }
};

/// The different demands of a list of pods.
struct Demands {
  std::vector<PodDemand> all;
  std::vector<std::uint32_t> of_pod;  ///< index into all, pod by pod
  std::vector<std::string> nowhere;   ///< models that pods name and no node has, ascending
};

[[nodiscard]] Demands find_demands(std::span<const Pod> pods, const ClusterSpec& cluster);

/// The typical pods of Weng et al. ("Beware of Fragmentation", USENIX ATC 2023), the target
/// workload of their measure: the demands of a list, whatever memory they ask for, the most popular
/// ones first (then those with more CPUs, GPU share, GPUs and the later models in the alphabet),
/// until
/// 95 % of the list is covered. The memory of all of them is 0.
[[nodiscard]] std::vector<PodDemand> typical_demands(std::span<const Pod> pods,
                                                     const ClusterSpec& cluster);

}  // namespace starling
