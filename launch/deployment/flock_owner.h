// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"

namespace starling {

/// A flock's directory is of the user that brought it up; none but that user and root stops,
/// changes or copies the flock. `invalid` where this user may not: one sentence that says who may,
/// and what to do. `command`: as it is typed, "down". Also of the copy of a place that 'keys grant
/// --out' made: there is no flock in it.
[[nodiscard]] Status may_manage(const std::filesystem::path& dir, const char* command);

}  // namespace starling
