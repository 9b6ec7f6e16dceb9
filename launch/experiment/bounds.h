// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/experiment/experiment.h"
#include "launch/experiment/grid.h"

namespace starling {

/// Why no bound can be had under the physics of the experiment, and what to write; empty: it can.
[[nodiscard]] std::string refuses_bound(const Experiment& experiment);

/// dual_bound() of the jobs of a run, in seconds. Errors as jobs_of().
[[nodiscard]] Result<double> pair_bound(const Experiment& experiment, const Inputs& inputs,
                                        const RunPoint& point);
/// The same of all points, each pair, topology and load once, on as many threads.
[[nodiscard]] Status find_bounds(const Experiment& experiment, const Inputs& inputs,
                                 std::size_t threads, std::vector<RunPoint>& points);

}  // namespace starling
