// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scheduling/policy.h"

namespace starling::search {

/// Starts what fits here, spreads what fits with the other partition's GPU. Remembers nothing, so
/// that clones can share it.
class AtOnce final : public Policy {
 public:
  [[nodiscard]] const PolicyFacts& facts() const noexcept override {
    static const PolicyFacts kFacts{.name = "at-once", .summary = "starts whatever fits"};
    return kFacts;
  }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    std::vector<Decision> decisions;
    const IndexRange gpus = view.gpus.gpus();
    for (const JobView& job : view.waiting) {
      if (job.blocked || gpus.size() == 0 || !view.gpus.is_free(GpuId{gpus.first})) continue;
      const Placement here{GpuId{gpus.first}};
      if (job.spec->gpus() == 1) {
        decisions.emplace_back(Start{job.spec->id, here});
      } else {
        decisions.emplace_back(Spread{job.spec->id, here});
      }
      break;
    }
    return decisions;
  }
  [[nodiscard]] Placement offer(const View& view, std::uint32_t, std::uint32_t, Demand) override {
    const GpuId gpu{view.gpus.gpus().first};
    return view.gpus.is_free(gpu) ? Placement{gpu} : Placement{};
  }
};

}  // namespace starling::search
