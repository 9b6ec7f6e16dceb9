// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "agents/record.h"
#include "base/result.h"
#include "topology/compare.h"

namespace starling {

/// A snapshot (of an Agent or an Executor) whose servers and GPUs have got other numbers. What is
/// over forgets GPUs that are not there any more; drains of servers that come back changed have
/// done their work and end. `busy`: an attempt that is not over uses a server that leaves or
/// changes; the message names it. `before` is what the snapshot was taken with.
[[nodiscard]] Result<std::vector<Record>> renumbered(std::vector<Record> snapshot,
                                                     const Renumbering& numbers,
                                                     const Topology& before);

}  // namespace starling
