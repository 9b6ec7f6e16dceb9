// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/published/reproduction.h"

namespace starling {

// A function for each paper, in the folder of its name.
[[nodiscard]] Reproduction philly_week();
[[nodiscard]] Reproduction gavel_96();
[[nodiscard]] Reproduction muri();
[[nodiscard]] Reproduction openb_fgd();
[[nodiscard]] Reproduction shockwave();
[[nodiscard]] Reproduction pollux();

}  // namespace starling
