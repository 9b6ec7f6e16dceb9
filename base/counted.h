// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace starling {

/// "1 job", "2 jobs", for people. `many`: where that is not `one` with an s ("switches").
[[nodiscard]] inline std::string counted(std::uint64_t n, std::string_view one,
                                         std::string_view many = {}) {
  std::string text = std::to_string(n) + ' ';
  if (n == 1) return text += one;
  return many.empty() ? (text += one) += 's' : text += many;
}

}  // namespace starling
