// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "interference/models/speed_choice.h"

namespace starling {

/// Whether the file of a learned choice, or what the program carries, can be used; errors name it.
[[nodiscard]] Status check_speed_file(const SpeedChoice& choice);

}  // namespace starling
