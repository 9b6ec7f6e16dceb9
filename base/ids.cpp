// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace starling {

std::string to_string(const JobId& id) {
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64 "%016" PRIx64, id.hi, id.lo);
  return text.data();
}

Result<JobId> parse_job_id(const std::string& text) {
  if (text.empty() || text.size() > 32 ||
      text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return {Errc::invalid,
            "'" + text + "' is not a job id: 1 to 32 hexadecimal digits are expected"};
  }
  const std::size_t low = text.size() > 16 ? text.size() - 16 : 0;
  JobId id;
  if (low > 0) id.hi = std::stoull(text.substr(0, low), nullptr, 16);
  id.lo = std::stoull(text.substr(low), nullptr, 16);
  return id;
}

std::string to_string(const AttemptId& id) {
  return to_string(id.job) + "/" + std::to_string(id.home_epoch.value) + "/" +
         std::to_string(id.number >> 32) + "." + std::to_string(id.number & 0xffffffffU);
}

}  // namespace starling
