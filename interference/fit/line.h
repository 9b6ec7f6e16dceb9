// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

namespace starling {

/// One line of a table of the fit, as printf makes it; what is beyond 255 characters is left out.
template <class... Args>
std::string line(const char* format, Args... args) {
  char text[256];
  const int size = std::snprintf(text, sizeof text, format, args...);
  return {text, static_cast<std::size_t>(std::min<int>(size, sizeof text - 1))};
}

}  // namespace starling
