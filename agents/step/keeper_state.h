// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "agents/quota/keeper.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// What the agent of partition 0 knows as the keeper of the flock's queues.
struct KeeperState {
  /// A grant that its home did not ask for, said until it asks again.
  struct Untold {
    Instant again = kNever;
    Duration backoff{0};
  };

  KeeperState(std::size_t homes, std::uint64_t gpus) : quota(homes, gpus) {}

  QuotaKeeper quota;
  std::map<AgentId, Untold> untold;  ///< only where frames may get lost
  std::set<AgentId> unheard;         ///< have not asked in this life: what they want is not known
};

}  // namespace starling
