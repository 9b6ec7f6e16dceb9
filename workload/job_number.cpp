// SPDX-License-Identifier: Apache-2.0
#include "workload/job_number.h"

#include <algorithm>
#include <cstdint>

namespace starling {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

std::string job_number(const JobId& id) {
  Wide left = Wide{id.hi} << 64U | id.lo;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(left % 10));
    left /= 10;
  } while (left > 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<JobId> job_of_number(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  constexpr Wide kMost = ~Wide{0};
  Wide sum = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<unsigned>(c - '0');
    if (sum > (kMost - digit) / 10) return std::nullopt;
    sum = sum * 10 + digit;
  }
  return JobId{static_cast<std::uint64_t>(sum >> 64U), static_cast<std::uint64_t>(sum)};
}

}  // namespace starling
