// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/features.h"

#include <algorithm>
#include <cmath>

namespace starling {

std::array<float, kGpuProfile> gpu_profile(const ModelProfile& model) noexcept {
  const auto log2_of = [](double x) { return static_cast<float>(std::log2(std::max(x, 1e-6))); };
  return {log2_of(model.iteration_s),
          log2_of(speed_on(model, GpuKind::k80)),
          log2_of(speed_on(model, GpuKind::p100)),
          log2_of(model.memory_gib),
          static_cast<float>(model.gpu_utilization),
          log2_of(model.gradient_mib),
          log2_of(model.cpus_per_gpu),
          log2_of(model.checkpoint_mib)};
}

}  // namespace starling
