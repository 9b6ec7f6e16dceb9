// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/fgd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "policies/fractional/gpu_choice.h"

namespace starling {

Fgd::Choice Fgd::with(const PackNode& node, const PodDemand& demand, GpuSet gpus,
                      double before_milli) const {
  std::array<std::uint16_t, kNodeGpusMost> left;
  std::copy(node.free.gpu_milli.begin(), node.free.gpu_milli.end(), left.begin());
  for (GpuSet rest = gpus; rest != 0; rest &= rest - 1) {
    std::uint16_t& gpu = left[static_cast<std::size_t>(std::countr_zero(rest))];
    gpu = static_cast<std::uint16_t>(gpu - demand.gpu_milli);
  }
  const FreeNode after{node.free.cpu_milli - demand.cpu_milli,
                       node.free.memory_mib - demand.memory_mib,
                       node.free.model,
                       {left.data(), node.free.gpu_milli.size()}};
  const double shrinks_gpus = (before_milli - measure_.published(after)) / kWholeGpu;
  const auto published = static_cast<std::int64_t>(100 / (1 + std::exp(-shrinks_gpus)));
  return {100 - published, gpus};
}

Fgd::Choice Fgd::best(const PackNode& node, const PodDemand& demand) const {
  const std::span<const std::uint16_t> free = node.free.gpu_milli;
  const double before_milli = measure_.published(node.free);
  if (!demand.shares_gpu()) return with(node, demand, fullest_gpus(free, demand), before_milli);
  Choice best;
  for (std::size_t g = 0; g < free.size(); ++g) {
    const auto end = free.begin() + static_cast<std::ptrdiff_t>(g);
    const bool is_new = std::find(free.begin(), end, free[g]) == end;  // the others score the same
    if (free[g] < demand.gpu_milli || !is_new) continue;
    const Choice here = with(node, demand, GpuSet{1} << g, before_milli);
    if (here.score < best.score) best = here;
  }
  return best;
}

}  // namespace starling
