// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "launch/experiment/compare.h"
#include "launch/report/run_curves.h"
#include "sim/run/run_result.h"

namespace starling {

/// A finished run as it lies in DIR/runs/ID.json: its figures and curves, both as JSON text.
struct RunRecord {
  RunFact fact;         ///< its point is the caller's
  std::string program;  ///< that ran it: program_build(); empty: a version that did not say
  std::string summary;  ///< one run of summary.json
  std::string curves;   ///< what the page draws
};

/// Replaces the file as a whole: it is there complete or not at all. Names and labels of `point`
/// are put in the place of the result's.
[[nodiscard]] Status write_record(const std::filesystem::path& file, const RunPoint& point,
                                  const std::string& program, RunResult run,
                                  const RunCurves& curves);
/// The record of `point`, under the names of `point`. `not_found`, `io`, or `invalid` for a file
/// that is no whole record of that id.
[[nodiscard]] Result<RunRecord> read_record(const std::filesystem::path& file,
                                            const RunPoint& point);

/// 16 hexadecimal digits.
[[nodiscard]] bool is_run_id(const std::string& text);

/// What was run, so that a report can be made without the experiment's file and inputs.
struct Manifest {
  std::string name, description, split, baseline, physics;
  std::vector<RunPoint> runs;
  std::vector<std::string> notes = {};  ///< what a reader of the tables has to know
  bool together = false;                ///< one table over all families
  std::string program = {};             ///< that runs it: program_build()
};
[[nodiscard]] std::string text_of(const Manifest& manifest);
[[nodiscard]] Status write_manifest(const std::filesystem::path& file, const Manifest& manifest);
[[nodiscard]] Result<Manifest> read_manifest(const std::filesystem::path& file);

/// Where a new text of a file is written before it takes its place: another name for each writer.
[[nodiscard]] std::filesystem::path fresh_name(const std::filesystem::path& file);
/// The text as a file, complete or not at all, also where other processes write it at the same
/// time. `io` names it.
[[nodiscard]] Status write_whole(const std::filesystem::path& file, const std::string& text);
/// The same where no file of that name is there yet. False: there was one, which stays. Of several
/// processes on any hosts that try it, one is told true.
[[nodiscard]] Result<bool> write_first(const std::filesystem::path& file, const std::string& text);

}  // namespace starling
