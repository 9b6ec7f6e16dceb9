// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "policies/registry.h"

namespace starling {

/// The product's own: what `run`, `sim` and `up` use where no policy is named.
inline constexpr std::string_view kDefaultPolicy = "starling";

/// Every policy that this program offers. The one place where they come together.
[[nodiscard]] PolicyRegistry all_policies();
/// These, and the upper bounds that only a simulation can have.
[[nodiscard]] PolicyRegistry simulated_policies();

}  // namespace starling
