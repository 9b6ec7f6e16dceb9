// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "agents/message.h"
#include "launch/system/dates.h"

namespace starling {

/// When things happened to a job, as far as its home told.
struct JobDates {
  std::optional<Date> submitted, started, ended;
};
[[nodiscard]] JobDates dates_of(const JobState& state, Date now);

/// "11-23 06:16:52", with the year where it is another one than now; "-": none.
[[nodiscard]] std::string date_text(const std::optional<Date>& date, Date now);
/// "2026-11-23T06:16:52Z"; empty: none.
[[nodiscard]] std::string date_json(const std::optional<Date>& date);

/// A date, as "2026-11-23", "2026-11-23 12:30" or "2026-11-23T12:30:05", in local time; or how long
/// ago, as 90s, 30m, 2h, 3d. Nothing: it is neither.
[[nodiscard]] std::optional<Date> parse_date(const std::string& text, Date now);

}  // namespace starling
