// SPDX-License-Identifier: Apache-2.0
#include "base/machine_clock.h"

#include <time.h>

namespace starling {

Instant boot_time() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return Instant(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

}  // namespace starling
