// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace starling {

void check_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "starling: broken invariant at %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace starling
