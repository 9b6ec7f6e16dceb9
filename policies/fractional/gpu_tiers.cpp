// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/gpu_tiers.h"

#include <algorithm>
#include <bit>

namespace starling {
namespace {

constexpr std::int64_t kBest = 100;
// Of GPU packing, the least of shared GPUs and of nodes at work.
constexpr std::int64_t kShared = 50;
constexpr std::int64_t kAtWork = 33;
constexpr std::int64_t kTier = 25;  ///< of GPU clustering

}  // namespace

std::int64_t GpuPacking::score(const PackNode& node, const PodDemand& demand) const {
  if (demand.gpus == 0) return kBest;
  const auto free = node.free.gpu_milli;
  const auto all = static_cast<std::int64_t>(free.size());
  if (std::count(free.begin(), free.end(), kWholeGpu) == all)
    return kBest - std::max(kAtWork - all, all);
  std::int64_t left_percent = 0, idle = 0;
  for (GpuSet rest = fullest_gpus(free, demand); rest != 0; rest &= rest - 1) {
    const std::uint16_t gpu = free[static_cast<std::size_t>(std::countr_zero(rest))];
    idle += gpu == kWholeGpu ? 1 : 0;
    left_percent += gpu * std::int64_t{100} / kWholeGpu;
  }
  return kBest - (idle > 0 ? std::max(kShared - idle, kAtWork)
                           : std::max(kBest - left_percent / 10, kShared));
}

std::int64_t GpuClustering::score(const PackNode& node, const PodDemand& demand) const {
  if (demand.gpus == 0) return kBest;
  const auto kinds = std::count_if(node.pods.begin(), node.pods.end(),
                                   [](std::uint32_t pods) { return pods > 0; });
  const bool same = node.pods[demand.kind()] > 0;
  const std::int64_t tier = same ? (kinds == 1 ? 3 : 2) : (kinds == 0 ? 1 : 0);
  return kBest - (tier * kTier + kTier * (largest_ - node.free.total_gpu_milli()) / largest_);
}

}  // namespace starling
