// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sim/check/checker.h"
#include "topology/topology.h"

namespace starling {

/// The first server whose processes need more CPUs or memory than it has, in words; empty: none.
[[nodiscard]] std::string overdrawn(const Topology& topology,
                                    std::span<const ProcessView> processes);

}  // namespace starling
