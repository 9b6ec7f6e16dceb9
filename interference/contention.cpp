// SPDX-License-Identifier: Apache-2.0
#include "interference/contention.h"

#include <algorithm>

#include "interference/sharing.h"

namespace starling {
namespace {

class FittedContention final : public Contention {
 public:
  [[nodiscard]] double on_gpu(const ModelProfile& own, std::span<const ModelProfile* const> others,
                              GpuKind kind) const noexcept override {
    double cost = 0;
    for (const ModelProfile* other : others) cost += 1 / sharing_speed(own, *other, kind) - 1;
    return cost;
  }
  [[nodiscard]] double on_host(const ModelProfile&, double ratio) const noexcept override {
    return std::max(1.0, ratio);
  }
};

}  // namespace

const Contention& fitted_contention() noexcept {
  static const FittedContention law;
  return law;
}

}  // namespace starling
