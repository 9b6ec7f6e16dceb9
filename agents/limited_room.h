// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

/// What a journal on a disk of this machine also is: its disk may be full.
class LimitedRoom {
 public:
  virtual ~LimitedRoom() = default;
  /// What is written goes into what was put by for that, so nothing new should be begun.
  [[nodiscard]] virtual bool short_of_room() = 0;
};

}  // namespace starling
