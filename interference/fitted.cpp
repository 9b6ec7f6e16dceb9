// SPDX-License-Identifier: Apache-2.0
#include "interference/fitted.h"

#include <array>
#include <vector>

namespace starling {
namespace {

constexpr auto kFitted = std::to_array<FittedSync>({
#include "interference/fitted.inc"
});

}  // namespace

std::span<const FittedSync> fitted_syncs() noexcept { return kFitted; }

const FittedSync* fitted_sync(const ModelProfile& model) noexcept {
  static const std::vector<const FittedSync*> by_family = [] {
    std::vector<const FittedSync*> out(catalogue().size());
    for (const FittedSync& fit : kFitted) out[model_profile(fit.model).family] = &fit;
    return out;
  }();
  return by_family[model.family];
}

}  // namespace starling
