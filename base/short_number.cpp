// SPDX-License-Identifier: Apache-2.0
#include "base/short_number.h"

#include <array>
#include <cstdio>

namespace starling {

std::string short_number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", x);
  return text.data();
}

}  // namespace starling
