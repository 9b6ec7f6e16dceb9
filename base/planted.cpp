// SPDX-License-Identifier: Apache-2.0
#include "base/planted.h"

namespace starling {

bool has_planted_bugs() noexcept {
#ifdef STARLING_PLANT
  return true;
#else
  return false;
#endif
}

}  // namespace starling

#ifdef STARLING_PLANT
#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace starling {
namespace {

std::size_t chosen() {
  const char* name = std::getenv("STARLING_BUG");
  if (name == nullptr || *name == 0) return kBugNames.size();
  const auto at = std::find(kBugNames.begin(), kBugNames.end(), std::string_view(name));
  STARLING_CHECK(at != kBugNames.end());
  return static_cast<std::size_t>(at - kBugNames.begin());
}

}  // namespace

bool planted(Bug bug) noexcept {
  static const std::size_t one = chosen();
  return static_cast<std::size_t>(bug) == one;
}

}  // namespace starling
#endif
