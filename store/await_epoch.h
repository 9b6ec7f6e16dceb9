// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "agents/epoch_authority.h"

namespace starling {

/// For a daemon that starts: acquires `partition` at whatever epoch it is, and asks again until it
/// is granted. Between two tries `again` says whether to go on; where it does not, the last
/// refusal's reason comes back.
[[nodiscard]] Result<Ownership> await_epoch(
    EpochAuthority& authority, PartitionId partition, AgentId me,
    const std::function<bool(const EpochRefused&)>& again,
    std::chrono::milliseconds pause = std::chrono::milliseconds(200));

}  // namespace starling
