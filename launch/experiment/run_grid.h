// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "launch/experiment/grid.h"
#include "launch/experiment/grid_part.h"
#include "policies/registry.h"
#include "sim/simulate.h"

namespace starling {

/// simulate(), or what stands in for it in a test.
using RunFunction = std::function<Result<RunResult>(const Topology&, const Trace&,
                                                    const PolicyRegistry&, const SimOptions&)>;

struct GridOptions {
  std::filesystem::path
      out;              ///< experiment.json, runs/ID.json and, where wanted, jobs/ID.csv go there
  bool resume = false;  ///< runs whose record is whole are not run again
  bool force = false;   ///< runs that are there are removed first; with `part`: those of the part
  GridPart part;        ///< only these runs; such a folder is resumed without being asked
  /// Other processes, on any hosts, do runs of the same folder at the same time (run_locks.h); all
  /// return once no run is left. Resumed likewise.
  bool share = false;
  std::string program;        ///< that runs it; empty: program_build()
  std::uint32_t threads = 0;  ///< 0: as many as the machine has
  /// Called by one thread at a time after each run; `left_s` is a guess of the time to the end.
  std::function<void(std::uint64_t done, std::uint64_t total, double left_s)> progress;
  /// Called by one thread at a time for each run that failed.
  std::function<void(const RunPoint&, const Error&)> failed;
};
struct GridOutcome {
  std::uint64_t ran = 0, skipped = 0, failed = 0;
  std::uint64_t others = 0;  ///< that other processes have done meanwhile
};

/// Runs all points on a pool of threads; each run is single-threaded. A run that fails costs
/// nothing but itself. Whatever ends the process leaves the records of finished runs whole.
/// `conflict`: the folder has records already and `resume` is not set, or cannot be made, or, with
/// `part` or `share`, it is another experiment's or another program's; `io`: it cannot be written.
[[nodiscard]] Result<GridOutcome> run_grid(const Experiment& experiment, const Inputs& inputs,
                                           const std::vector<RunPoint>& points,
                                           const PolicyRegistry& policies, const RunFunction& run,
                                           const GridOptions& options);

}  // namespace starling
