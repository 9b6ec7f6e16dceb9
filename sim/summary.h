// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"
#include "sim/run/run_result.h"

namespace starling {

/// summary.json: {"schema": 1, "runs": [...]}, every run with the same keys in the same order; null
/// where a figure does not apply (no job finished, a live run has no trace hash). The hash is 16
/// hex digits, because a JSON number would lose some of its 64 bits.
[[nodiscard]] std::string summary_json(std::span<const RunResult> runs);

/// jobs.csv: a header, then one row per job in the order of `run.jobs`. Empty start_s or finish_s:
/// never. `io` if the file cannot be written.
[[nodiscard]] Status write_jobs_csv(const std::filesystem::path& file, const RunResult& run);

}  // namespace starling
