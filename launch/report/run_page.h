// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sim/run/run_result.h"
#include "topology/topology.h"

namespace starling {

/// One self-contained page about runs of the same input: JCT, GPUs and queue over time, a heat map
/// and a Gantt chart of the servers, all figures side by side. `runs` is not empty; `labels` names
/// them.
[[nodiscard]] std::string run_page(std::span<const RunResult> runs,
                                   std::span<const std::string> labels, const Topology& topology);

}  // namespace starling
