// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "agents/step/state.h"

namespace starling {

/// Notices that a host reaches hardly any executor of the partition that it serves while others do:
/// then another one serves it better. Where no host reaches them, none would.
class OutOfReach {
 public:
  static constexpr Duration kLong = std::chrono::seconds(20);

  /// Every heartbeat, on the machine's clock. True once most executors have been cut off from here
  /// for kLong.
  bool look(const std::vector<OwnedExecutor>& executors, Instant now) {
    std::size_t cut_off = 0;
    for (const OwnedExecutor& executor : executors)
      cut_off += executor.watch.standing == Standing::cut_off ? 1 : 0;
    if (cut_off * 2 <= executors.size()) {
      since_ = kNever;
    } else if (since_ == kNever) {
      since_ = now;
    }
    return since_ != kNever && now - since_ >= kLong;
  }

 private:
  Instant since_ = kNever;
};

}  // namespace starling
