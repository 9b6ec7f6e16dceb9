// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/muri_servers.h"

#include <algorithm>

namespace starling {

bool MuriServers::take(std::uint32_t gpus) {
  if (gpus <= kMuriServerGpus) {
    const auto server =
        std::find_if(free_.begin(), free_.end(), [&](std::uint32_t left) { return left >= gpus; });
    if (server == free_.end()) return false;
    *server -= gpus;
    return true;
  }
  const std::uint32_t rest = gpus % kMuriServerGpus;
  MuriServers after = *this;
  std::uint32_t whole = gpus / kMuriServerGpus;
  for (std::uint32_t& left : after.free_) {
    if (whole == 0 || left < kMuriServerGpus) continue;
    left = 0;
    --whole;
  }
  if (whole > 0 || (rest > 0 && !after.take(rest))) return false;
  *this = after;
  return true;
}

}  // namespace starling
