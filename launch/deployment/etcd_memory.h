// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "agents/epoch_authority.h"
#include "launch/deployment/deployment.h"

namespace starling {

// What the policy of a partition has learned, beside its journal in etcd, so that the agent that
// serves the partition next begins with it.

/// What is kept; empty: nothing. `io`: etcd does not answer.
[[nodiscard]] Result<std::string> read_etcd_memory(const Deployment& deployment,
                                                   PartitionId partition);
/// Keeps it in its place, as long as the partition is still `mine`: `fenced`. `io`. Within a
/// second.
[[nodiscard]] Status keep_etcd_memory(const Deployment& deployment, const Ownership& mine,
                                      std::span<const std::byte> memory);

}  // namespace starling
