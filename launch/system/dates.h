// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace starling {

using Date = std::chrono::system_clock::time_point;
enum class Zone { utc, local };

/// As strftime() formats it, in at most 63 characters; the local zone is that of TZ.
[[nodiscard]] std::string formatted(Date date, const char* format, Zone zone);

/// How many seconds the unit of a span is that is written as 90s, 30m, 2h or 3d; 0: it is none.
[[nodiscard]] std::uint64_t unit_seconds(char unit) noexcept;

}  // namespace starling
