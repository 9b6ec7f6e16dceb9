// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "agents/limited_room.h"
#include "agents/record.h"
#include "launch/system/log.h"

namespace starling {

/// Says in a daemon's log when its journal's disk is full, and when it has room again; asked at
/// each heartbeat, which is also when the reserve is made whole.
class RoomLine {
 public:
  void say(Journal& journal) {
    auto* room = dynamic_cast<LimitedRoom*>(&journal);
    const bool now = room != nullptr && room->short_of_room();
    if (std::exchange(short_, now) == now) return;
    log_info(now ? "the disk of its state is full: what must be written goes into the reserve"
                 : "the disk of its state has room again");
  }
  [[nodiscard]] bool is_short() const noexcept { return short_; }

 private:
  bool short_ = false;
};

}  // namespace starling
