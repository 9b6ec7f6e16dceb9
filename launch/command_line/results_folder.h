// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"

namespace starling {

/// Whether results may be written to `dir`: it is absent, or each file there with the name of a
/// result (summary.json, jobs.csv, jobs-sim.csv, experiment.json, report.html) is empty or one that
/// Starling wrote, which is then replaced. `invalid` names the file that is not of ours.
[[nodiscard]] Status can_take_results(const std::filesystem::path& dir);

}  // namespace starling
