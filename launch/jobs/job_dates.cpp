// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/job_dates.h"

#include <ctime>

#include "launch/system/text.h"

namespace starling {
namespace {

std::chrono::system_clock::duration lasting(Duration d) {
  return std::chrono::duration_cast<std::chrono::system_clock::duration>(d);
}

}  // namespace

JobDates dates_of(const JobState& state, Date now) {
  JobDates dates;
  if (state.submitted >= Duration{0}) {
    dates.submitted = Date(lasting(state.submitted));
  } else if (!terminal(state.phase) && state.phase != JobPhase::unknown) {
    dates.submitted = now - lasting(state.elapsed);
  }
  if (!dates.submitted) return dates;
  if (state.begun) dates.started = *dates.submitted + lasting(state.queued);
  if (terminal(state.phase)) dates.ended = *dates.submitted + lasting(state.elapsed);
  return dates;
}

std::string date_text(const std::optional<Date>& date, Date now) {
  if (!date) return "-";
  const bool this_year = formatted(*date, "%Y", Zone::local) == formatted(now, "%Y", Zone::local);
  return formatted(*date, this_year ? "%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", Zone::local);
}

std::string date_json(const std::optional<Date>& date) {
  return date ? formatted(*date, "%Y-%m-%dT%H:%M:%SZ", Zone::utc) : "";
}

std::optional<Date> parse_date(const std::string& text, Date now) {
  if (text.size() > 1) {
    const auto n = parse_decimal(text.substr(0, text.size() - 1));
    const auto unit = static_cast<double>(unit_seconds(text.back()));
    if (n && unit > 0 && *n >= 0 && *n * unit < 1e9)
      return now -
             std::chrono::duration_cast<Date::duration>(std::chrono::duration<double>(*n * unit));
  }
  for (const char* format :
       {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm tm{};
    tm.tm_isdst = -1;
    const char* const end = ::strptime(text.c_str(), format, &tm);
    if (end == nullptr || *end != '\0') continue;
    const std::time_t t = std::mktime(&tm);
    if (t != -1) return std::chrono::system_clock::from_time_t(t);
  }
  return std::nullopt;
}

}  // namespace starling
