// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/fractional/demand.h"
#include "policies/fractional/pack_policy.h"

namespace starling {

/// What is free on every node, GPU by GPU, and how fragmented it is. Taking and giving back touch
/// one node, whose fragments alone are counted anew; nothing is allocated. That a node is never
/// over-allocated and nothing is given back twice is an invariant, checked in every build.
class GpuShares {
 public:
  /// Both must outlive it.
  GpuShares(const ClusterSpec& cluster, const Fragmentation& measure);

  /// `gpus` are demand.gpus GPUs of the node with enough left; the pod fits there.
  void take(std::uint32_t node, GpuSet gpus, const PodDemand& demand);
  /// Undoes a take with the same arguments.
  void give_back(std::uint32_t node, GpuSet gpus, const PodDemand& demand);

  [[nodiscard]] PackNode node(std::uint32_t index) const noexcept;
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] std::int64_t allocated_gpu_milli() const noexcept { return allocated_; }
  /// Of all nodes, in the unit of Fragmentation::of.
  [[nodiscard]] std::int64_t fragments() const noexcept { return fragments_; }

 private:
  struct Node {
    std::int64_t cpu_milli;
    std::int64_t memory_mib;
    std::uint32_t model;
    std::uint32_t first_gpu;
    std::uint32_t gpus;
    std::int64_t fragments;
  };
  void recount(Node& node);
  [[nodiscard]] FreeNode free_of(const Node& node) const noexcept;

  const ClusterSpec& cluster_;
  const Fragmentation& measure_;
  std::vector<Node> nodes_;
  std::vector<std::uint16_t> gpu_milli_;  ///< left, GPU by GPU
  std::vector<std::uint32_t> pods_;       ///< by node and kind
  std::size_t kinds_ = 1;                 ///< of pods: sharing, and each number of whole GPUs
  std::int64_t allocated_ = 0;
  std::int64_t fragments_ = 0;
};

}  // namespace starling
