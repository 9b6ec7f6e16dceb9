// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace starling {

/// Tables of what has finished in an experiment's folder on stdout, or all of it as JSON;
/// summary.json, table.md, jobs.csv and report.html into the folder. Returns the exit status.
int show_experiment(const std::filesystem::path& dir, bool json, bool quiet);

}  // namespace starling
