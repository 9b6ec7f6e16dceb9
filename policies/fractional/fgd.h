// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/fractional/pack_policy.h"

namespace starling {

/// Fragmentation gradient descent (Weng et al., "Beware of Fragmentation", USENIX ATC 2023), as
/// published: the node on which placing the pod makes F_n grow least, in hundredths of the logistic
/// function of what it shrinks by, rounded down. A pod that shares a GPU is tried on each.
class Fgd final : public PackPolicy {
 public:
  /// `measure` outlives it.
  explicit Fgd(const Fragmentation& measure) : measure_(measure) {}

  /// 100 less the published score, which is 50 where F_n stays as it is.
  [[nodiscard]] std::int64_t score(const PackNode& node, const PodDemand& demand) const override {
    return best(node, demand).score;
  }
  [[nodiscard]] GpuSet gpus(const PackNode& node, const PodDemand& demand,
                            Rng& /*rng*/) const override {
    return best(node, demand).gpus;
  }

 private:
  struct Choice {
    std::int64_t score = kNoFit;
    GpuSet gpus = 0;
  };
  [[nodiscard]] Choice with(const PackNode& node, const PodDemand& demand, GpuSet gpus,
                            double before_milli) const;
  [[nodiscard]] Choice best(const PackNode& node, const PodDemand& demand) const;

  const Fragmentation& measure_;
};

}  // namespace starling
