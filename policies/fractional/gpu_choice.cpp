// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/gpu_choice.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace starling {
namespace {

/// Takes demand.gpus times the best of those that are left; better(a, b): a goes before b.
template <class Better>
GpuSet take_best(std::span<const std::uint16_t> free, const PodDemand& demand, Better better) {
  GpuSet taken = 0;
  for (std::uint32_t n = 0; n < demand.gpus; ++n) {
    std::size_t best = free.size();
    for (std::size_t g = 0; g < free.size(); ++g) {
      if (free[g] < demand.gpu_milli || ((taken >> g) & 1U) != 0) continue;
      if (best == free.size() || better(free[g], free[best])) best = g;
    }
    STARLING_CHECK(best < free.size());
    taken |= GpuSet{1} << best;
  }
  return taken;
}

}  // namespace

GpuSet fullest_gpus(std::span<const std::uint16_t> free, const PodDemand& demand) {
  return take_best(free, demand, [](std::uint16_t a, std::uint16_t b) { return a < b; });
}

GpuSet emptiest_gpus(std::span<const std::uint16_t> free, const PodDemand& demand) {
  return take_best(free, demand, [](std::uint16_t a, std::uint16_t b) { return a > b; });
}

GpuSet any_gpus(std::span<const std::uint16_t> free, const PodDemand& demand, Rng& rng) {
  std::array<std::uint8_t, kNodeGpusMost> usable{};
  std::uint32_t count = 0;
  for (std::size_t g = 0; g < free.size(); ++g) {
    if (free[g] >= demand.gpu_milli) usable[count++] = static_cast<std::uint8_t>(g);
  }
  STARLING_CHECK(count >= demand.gpus);
  GpuSet taken = 0;
  for (std::uint32_t n = 0; n < demand.gpus; ++n) {
    std::swap(usable[n], usable[n + rng.below(count - n)]);
    taken |= GpuSet{1} << usable[n];
  }
  return taken;
}

}  // namespace starling
