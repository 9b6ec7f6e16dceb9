// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/experiment/compare.h"
#include "launch/experiment/run_record.h"

namespace starling {

/// The finished runs of an experiment's folder, and what they say.
struct Results {
  Manifest manifest;
  /// In the order of the grid. Only the first run of each topology, load, faults, policy and number
  /// of agents keeps its curves: a page with all of them would be too large.
  std::vector<RunRecord> records;
  std::uint64_t missing = 0;  ///< runs of the grid without a record
  std::uint64_t undrawn = 0;  ///< such first runs beyond the 400 that the page has room for
  std::vector<ComparisonTable> tables;
};

/// Reads experiment.json and runs/ of `dir`. Missing runs are counted, damaged ones are errors.
[[nodiscard]] Result<Results> read_results(const std::filesystem::path& dir);
/// Writes summary.json, table.md, table.csv, report.html and, where there are jobs/, jobs.csv into
/// `dir`.
[[nodiscard]] Status write_results(const std::filesystem::path& dir, const Results& results);
/// The jobs of all runs as one table: columns that name the run, then those of jobs/ID.csv.
[[nodiscard]] Status write_jobs_table(const std::filesystem::path& dir, const Results& results);

/// {"schema": 1, "runs": [...]}: the text of summary.json, whose keys docs/experiments.md tells.
[[nodiscard]] std::string summary_of(const Results& results);
/// The same and "comparisons", "missing": what --json prints.
[[nodiscard]] std::string results_json(const Results& results);

/// The self-contained page.
[[nodiscard]] std::string experiment_page(const Results& results);

}  // namespace starling
