// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/counted.h"
#include "launch/system/text.h"

namespace starling {

/// counted(), with commas: "1 job", "12,345 jobs".
[[nodiscard]] inline std::string amount(std::uint64_t n, std::string_view one,
                                        std::string_view many = {}) {
  const std::string words = counted(n, one, many);
  return with_commas(n) + words.substr(words.find(' '));
}

}  // namespace starling
