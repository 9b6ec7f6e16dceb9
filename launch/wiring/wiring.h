// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

namespace starling {

/// Every policy that this program offers. The one place where they come together.
[[nodiscard]] PolicyRegistry all_policies();
/// These, and the upper bounds that only a simulation can have.
[[nodiscard]] PolicyRegistry simulated_policies();

}  // namespace starling
