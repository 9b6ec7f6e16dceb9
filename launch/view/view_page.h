// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/run/run_recorder.h"

namespace starling {

/// The page on which a recorded run plays: one file that needs no network.
[[nodiscard]] std::string view_page(const Recording& recording);

}  // namespace starling
