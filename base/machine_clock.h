// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"

namespace starling {

/// Of the machine, since it was started. It goes on while the machine sleeps, as leases do, and all
/// processes of the machine read the same: what one is told to do until then another may watch.
[[nodiscard]] Instant boot_time() noexcept;

class MachineClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return boot_time(); }
};

}  // namespace starling
