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
  static const std::vector<const FittedSync*> by_model = [] {
    std::vector<const FittedSync*> out(catalogue().size());
    for (const FittedSync& fit : kFitted)
      out[static_cast<std::size_t>(&model_profile(fit.model) - catalogue().data())] = &fit;
    return out;
  }();
  return by_model[static_cast<std::size_t>(&model - catalogue().data())];
}

}  // namespace starling
