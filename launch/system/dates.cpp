// SPDX-License-Identifier: Apache-2.0
#include "launch/system/dates.h"

#include <ctime>

namespace starling {

std::string formatted(Date date, const char* format, Zone zone) {
  const std::time_t t = std::chrono::system_clock::to_time_t(date);
  std::tm tm{};
  zone == Zone::utc ? ::gmtime_r(&t, &tm) : ::localtime_r(&t, &tm);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &tm)};
}

std::uint64_t unit_seconds(char unit) noexcept {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86'400;
    default:
      return 0;
  }
}

}  // namespace starling
