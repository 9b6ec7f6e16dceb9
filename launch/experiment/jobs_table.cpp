// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "launch/experiment/results.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

std::string load_text(double load) {
  if (load <= 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", load);
  return text;
}

/// What stands before each row of a run.
std::string run_columns(const RunPoint& point) {
  return point.id + ',' + csv_field(point.label) + ',' + std::to_string(point.agents) + ',' +
         csv_field(point.topology) + ',' + csv_field(point.workload) + ',' + load_text(point.load) +
         ',' + csv_field(point.faults) + ',' + std::to_string(point.seed) + ',';
}
constexpr const char* kRunColumns = "run,policy,agents,topology,workload,load,faults,seed,";

/// `columns` before every row of `csv`, a line break within quotes starts none; the heading is
/// dropped unless `heading`.
std::string with_columns(const std::string& csv, const std::string& columns, bool heading) {
  std::string out;
  bool quotes = false, first = true;
  for (std::size_t from = 0, at = 0; at < csv.size(); ++at) {
    if (csv[at] == '"') quotes = !quotes;
    if (csv[at] != '\n' || quotes) continue;
    if (!first) out += columns;
    if (first && heading) out += kRunColumns;
    if (!first || heading) out.append(csv, from, at + 1 - from);
    first = false;
    from = at + 1;
  }
  return out;
}

}  // namespace

Status write_jobs_table(const fs::path& dir, const Results& results) {
  std::error_code ignored;
  if (!fs::exists(dir / "jobs", ignored)) return done();
  const fs::path file = dir / "jobs.csv";
  const fs::path fresh = fresh_name(file);
  std::FILE* const out = std::fopen(fresh.c_str(), "wb");
  if (out == nullptr) return {Errc::io, "cannot write " + file.string()};
  bool heading = true, written = true;
  // A run at a time, so that memory does not grow with the grid.
  for (const RunRecord& record : results.records) {
    const RunPoint& point = record.fact.point;
    const auto csv = read_text_file(dir / "jobs" / (point.id + ".csv"));
    if (!csv) continue;  // run when the experiment wanted no jobs
    const std::string rows = with_columns(csv.value(), run_columns(point), heading);
    heading = false;
    written = written && std::fwrite(rows.data(), 1, rows.size(), out) == rows.size();
  }
  written = std::fclose(out) == 0 && written;
  if (!written) return {Errc::io, "cannot write all of " + file.string()};
  std::error_code error;
  fs::rename(fresh, file, error);
  if (error) return {Errc::io, file.string() + ": " + error.message()};
  return done();
}

}  // namespace starling
