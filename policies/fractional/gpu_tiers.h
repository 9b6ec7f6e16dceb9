// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/fractional/gpu_choice.h"
#include "policies/fractional/pack_policy.h"

namespace starling {

// GPU packing and GPU clustering as Weng et al. (USENIX ATC 2023) compare FGD with them
// (pkg/simulator/plugin/gpu_packing_score.go and gpu_clustering_score.go of its simulator). Whole
// numbers from 0 to 100, of which scores here are what is missing from 100; all divisions round
// down. Both take the fullest GPUs that the pod fits on, and to both all nodes are alike for a pod
// without a GPU.

/// First on shared GPUs, the fuller the better; then on idle GPUs of nodes at work, the fewer the
/// better; then on idle nodes, small ones first.
class GpuPacking final : public PackPolicy {
 public:
  [[nodiscard]] std::int64_t score(const PackNode& node, const PodDemand& demand) const override;
  [[nodiscard]] GpuSet gpus(const PackNode& node, const PodDemand& demand,
                            Rng& /*rng*/) const override {
    return fullest_gpus(node.free.gpu_milli, demand);
  }
};

/// First among pods of the same kind (PodDemand::kind) and no other, then where such are among
/// others, then on nodes without GPU pods, then among others; each time where the least GPU share
/// is left, in 25 steps of what the largest node has.
class GpuClustering final : public PackPolicy {
 public:
  explicit GpuClustering(std::int64_t largest_gpu_milli) : largest_(largest_gpu_milli) {}
  [[nodiscard]] std::int64_t score(const PackNode& node, const PodDemand& demand) const override;
  [[nodiscard]] GpuSet gpus(const PackNode& node, const PodDemand& demand,
                            Rng& /*rng*/) const override {
    return fullest_gpus(node.free.gpu_milli, demand);
  }

 private:
  std::int64_t largest_;
};

}  // namespace starling
