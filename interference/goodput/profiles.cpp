// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/profiles.h"

#include <array>
#include <vector>

namespace starling {
namespace {

constexpr auto kProfiles = std::to_array<GoodputProfile>({
#include "interference/goodput/profiles.inc"
});

}  // namespace

std::span<const GoodputProfile> goodput_profiles() noexcept { return kProfiles; }

const GoodputProfile* goodput_profile(const ModelProfile& model) noexcept {
  static const std::vector<const GoodputProfile*> by_family = [] {
    std::vector<const GoodputProfile*> out(catalogue().size());
    for (const GoodputProfile& profile : kProfiles)
      out[model_profile(profile.model).family] = &profile;
    return out;
  }();
  return by_family[model.family];
}

}  // namespace starling
