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
  std::vector<RunRecord> records;  ///< in the order of the grid
  std::uint64_t missing = 0;       ///< runs of the grid without a record
  std::vector<ComparisonTable> tables;
};

/// Reads experiment.json and runs/ of `dir`. Missing runs are counted, damaged ones are errors.
[[nodiscard]] Result<Results> read_results(const std::filesystem::path& dir);
/// Writes summary.json, table.md and report.html into `dir`. `echarts` is the text of the chart
/// library, or empty: then the page shows its tables and says how to get the charts.
[[nodiscard]] Status write_results(const std::filesystem::path& dir, const Results& results,
                                   const std::string& echarts);

/// {"schema": 1, "runs": [...]} as ARCHITECTURE has it.
[[nodiscard]] std::string summary_of(const Results& results);
/// The same and "comparisons", "missing": what --json prints.
[[nodiscard]] std::string results_json(const Results& results);

/// The self-contained page.
[[nodiscard]] std::string experiment_page(const Results& results, const std::string& echarts);
/// Where the chart library's file is: $STARLING_ECHARTS, beside the build, or installed with the
/// program at `program`; empty if it is nowhere.
[[nodiscard]] std::filesystem::path find_echarts(const std::filesystem::path& program);

}  // namespace starling
