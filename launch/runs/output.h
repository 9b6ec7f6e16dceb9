// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/run/run_result.h"
#include "topology/topology.h"

namespace starling {

/// The table of a run, or of several side by side, for people.
[[nodiscard]] std::string results_table(std::span<const RunResult> runs);

/// Table or JSON on stdout; with `out`, also summary.json, jobs.csv (jobs-sim.csv for a simulation
/// beside a live run) and report.html there. Returns the exit status: no success where jobs never
/// ended, nor where none of them could run. `misfits`: as misfits() says, told as the reason.
int deliver(std::span<const RunResult> runs, const Topology& topology, const std::string& out,
            bool json, const std::string& misfits);

/// "live, 4 agents" or, where that is the same for all, what tells the runs apart.
[[nodiscard]] std::vector<std::string> run_labels(std::span<const RunResult> runs);

}  // namespace starling
