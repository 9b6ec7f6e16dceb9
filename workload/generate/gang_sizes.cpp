// SPDX-License-Identifier: Apache-2.0
#include "workload/generate/gang_sizes.h"

namespace starling {

std::uint32_t draw_gang(Rng& rng, std::span<const GangSize> sizes, std::uint32_t most) {
  const double u = rng.uniform();
  double below = 0;
  std::uint32_t gpus = 1;
  for (const GangSize& size : sizes) {
    below += size.part;
    gpus = size.gpus;
    if (u < below) break;
  }
  while (gpus > most) gpus /= 2;
  return gpus;
}

}  // namespace starling
