// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>

#include "base/ids.h"

namespace starling {

/// Adds to energy.csv of an executor's folder what a part of an attempt has used. A line that
/// cannot be written is lost, and logged. From 16 MiB on the older half of the lines goes.
void note_energy(const std::filesystem::path& node_dir, const AttemptId& attempt, double joules);

/// Joules of each job in the books of all executors whose folders are in `nodes`.
[[nodiscard]] std::map<JobId, double> energy_of_jobs(const std::filesystem::path& nodes);

}  // namespace starling
