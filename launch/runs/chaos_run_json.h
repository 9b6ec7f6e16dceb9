// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/chaos/chaos.h"

namespace starling {

// One seed's outcome on its way from the process that ran it.
[[nodiscard]] std::string to_text(const ChaosRun& run);
/// What to_text() wrote, and nothing else.
[[nodiscard]] ChaosRun chaos_run_of(const std::string& text);

}  // namespace starling
