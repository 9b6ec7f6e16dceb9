// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace starling {

using Date = std::chrono::system_clock::time_point;
enum class Zone { utc, local };

/// As strftime() formats it, in at most 63 characters; the local zone is that of TZ.
[[nodiscard]] std::string formatted(Date date, const char* format, Zone zone);

}  // namespace starling
