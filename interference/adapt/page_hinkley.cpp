// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/page_hinkley.h"

#include <algorithm>
#include <cmath>

namespace starling {

bool PageHinkley::observe(double surprise) noexcept {
  if (sum_ >= kAlarm) sum_ = 0, since_ = 0;
  sum_ = std::max(0.0, sum_ + std::min(std::abs(surprise), kMost) - kMean - kSlack);
  since_ = sum_ > 0 ? since_ + 1 : 0;
  return sum_ >= kAlarm;
}

}  // namespace starling
