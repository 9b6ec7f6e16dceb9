// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/gpu_shares.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace starling {

GpuShares::GpuShares(const ClusterSpec& cluster, const Fragmentation& measure)
    : cluster_(cluster), measure_(measure) {
  nodes_.reserve(cluster.nodes.size());
  for (const NodeSpec& spec : cluster.nodes) {
    STARLING_CHECK(spec.gpus <= kNodeGpusMost);
    nodes_.push_back({spec.cpu_milli, spec.memory_mib, spec.model,
                      static_cast<std::uint32_t>(gpu_milli_.size()), spec.gpus, 0});
    gpu_milli_.insert(gpu_milli_.end(), spec.gpus, kWholeGpu);
    kinds_ = std::max<std::size_t>(kinds_, spec.gpus + 1);
  }
  pods_.assign(nodes_.size() * kinds_, 0);
  for (Node& node : nodes_) recount(node);
}

FreeNode GpuShares::free_of(const Node& node) const noexcept {
  return {
      node.cpu_milli, node.memory_mib, node.model, {gpu_milli_.data() + node.first_gpu, node.gpus}};
}

PackNode GpuShares::node(std::uint32_t index) const noexcept {
  const Node& node = nodes_[index];
  return {free_of(node), node.fragments, {pods_.data() + index * kinds_, kinds_}};
}

void GpuShares::recount(Node& node) {
  const std::int64_t now = measure_.of(free_of(node));
  fragments_ += now - node.fragments;
  node.fragments = now;
}

void GpuShares::take(std::uint32_t index, GpuSet gpus, const PodDemand& demand) {
  Node& node = nodes_[index];
  STARLING_CHECK(fits(free_of(node), demand));
  STARLING_CHECK(static_cast<std::uint32_t>(std::popcount(gpus)) == demand.gpus);
  STARLING_CHECK(node.gpus == kNodeGpusMost || (gpus >> node.gpus) == 0);
  for (GpuSet rest = gpus; rest != 0; rest &= rest - 1) {
    std::uint16_t& left =
        gpu_milli_[node.first_gpu + static_cast<std::uint32_t>(std::countr_zero(rest))];
    STARLING_CHECK(left >= demand.gpu_milli);
    left = static_cast<std::uint16_t>(left - demand.gpu_milli);
  }
  node.cpu_milli -= demand.cpu_milli;
  node.memory_mib -= demand.memory_mib;
  if (demand.gpus > 0) ++pods_[index * kinds_ + demand.kind()];
  allocated_ += demand.total_gpu_milli();
  recount(node);
}

void GpuShares::give_back(std::uint32_t index, GpuSet gpus, const PodDemand& demand) {
  Node& node = nodes_[index];
  const NodeSpec& whole = cluster_.nodes[index];
  STARLING_CHECK(static_cast<std::uint32_t>(std::popcount(gpus)) == demand.gpus);
  for (GpuSet rest = gpus; rest != 0; rest &= rest - 1) {
    std::uint16_t& left =
        gpu_milli_[node.first_gpu + static_cast<std::uint32_t>(std::countr_zero(rest))];
    left = static_cast<std::uint16_t>(left + demand.gpu_milli);
    STARLING_CHECK(left <= kWholeGpu);
  }
  node.cpu_milli += demand.cpu_milli;
  node.memory_mib += demand.memory_mib;
  STARLING_CHECK(node.cpu_milli <= whole.cpu_milli && node.memory_mib <= whole.memory_mib);
  if (demand.gpus > 0) {
    std::uint32_t& here = pods_[index * kinds_ + demand.kind()];
    STARLING_CHECK(here > 0);
    --here;
  }
  allocated_ -= demand.total_gpu_milli();
  recount(node);
}

}  // namespace starling
