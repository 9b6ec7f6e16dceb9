// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "interference/speed.h"

namespace starling {

/// For tests: two GPUs do 1.8 times what one does, more of them less than that: parameter servers
/// over a slow network.
struct EarlyPeak final : SpeedModel {
  [[nodiscard]] Speed speed(const JobProfile&, const Placement&, const Neighbours&) const override {
    return {};
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    const std::array<double, 5> at = {0, 1, 1.8, 1.2, 1.1};
    return at[std::min(job.gpus, 4U)] / at[std::min(job.asked, 4U)];
  }
};

/// For tests: everything scales linearly; the first of two GPU types is a quarter as fast.
struct TwoTypes final : SpeedModel {
  explicit TwoTypes(const Topology& t) : topology(t) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours&) const override {
    for (const GpuId gpu : placement) {
      if (topology.server(topology.server_of(gpu)).gpu_type.value == 0) return {0.25, 0};
    }
    return {};
  }
  const Topology& topology;
};

}  // namespace starling
