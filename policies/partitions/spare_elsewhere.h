// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// GPUs of another partition that a gang might have, as far as its digest tells.
struct SparePart {
  AgentId agent;
  Placement guess;  ///< as many of its type and partition; which they are its owner says
};

/// Of each partition where, by a digest that is not old, no job waits: its free GPUs of the type.
/// Where all of a partition's GPUs are of one type and some servers are wholly free, the GPUs of
/// those alone: a gang in fewer pieces is faster. Where it has several servers as many are left to
/// its own newcomers as the commonest server has. Most first, ties to the next agent after this
/// one. O(servers of those partitions).
[[nodiscard]] std::vector<SparePart> spare_elsewhere(const View& view, GpuTypeId type);

}  // namespace starling
