// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/watch.h"

#include <algorithm>
#include <cstdint>

namespace starling {

void LocalHealth::beat(Duration lag, Duration heartbeat, bool most_silent) noexcept {
  lag_ = std::max(lag, lag_ / 2);
  const bool late = lag >= heartbeat / 2;
  if (late || most_silent) {
    const auto more = late ? 1 + std::min<std::int64_t>(lag / heartbeat, kMost) : 1;
    score_ = std::min(kMost - 1, score_ + static_cast<int>(more));
  } else {
    score_ = std::max(0, score_ - 1);
  }
}

}  // namespace starling
