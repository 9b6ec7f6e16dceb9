// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// Formats that `read_trace` knows, in the order of its help text: starling (the program's own),
/// philly, the tables (trace_table.h), shockwave and swf (Standard Workload Format). Where and how
/// each differs from the others stands at the top of its trace_*.cpp.
[[nodiscard]] std::vector<std::string> trace_formats();

/// Reads the text of a file in a format of its own: jobs with their submit times, in any order;
/// `file` is for messages. Ids are given afterwards, by row.
using TraceReader = std::function<Result<Trace>(const std::string& text, const std::string& file)>;

struct TraceOptions {
  std::string format;          ///< one of trace_formats(); empty: told from the first line
  std::uint32_t max_jobs = 0;  ///< 0: all
  double load = 1.0;           ///< submit times are divided by this; > 0
  Duration from{
      0};  ///< only jobs submitted in [from, from + length), where the first of them is at 0
  Duration length{0};            ///< 0: to the end
  TraceReader reader = nullptr;  ///< in the place of the formats here
};

/// Reads a trace file (plain or gzip). Jobs are sorted stably by submit time; the job_id column is
/// their name. Row i of the file gets trace_job_id(i), so that the same file gives the same ids.
/// Philly and SWF times count from the first row. A gang of n GPUs is one worker up to 8, workers
/// of 8 for multiples of 8, else n workers of 1, unless the column `workers` says otherwise. `work`
/// counts iterations, for rows that give no duration. Rows of the source that say "no GPU" or "0 s"
/// are dropped and counted in `dropped`. `invalid` names file and line, what is wrong and what
/// would be right; `io` if the file cannot be read.
[[nodiscard]] Result<Trace> read_trace(const std::filesystem::path& file,
                                       const TraceOptions& options);

/// Writes Starling's own CSV (job_id,submit_s,gpus,duration_s,model,user,vc,workers,...); gzip if
/// the name ends in .gz. Reading it back gives the same jobs, under the ids of their new rows.
/// Commands and environments are not part of a trace.
[[nodiscard]] Status write_trace(const std::filesystem::path& file, const Trace& trace);

/// The id of job number `index` of a trace.
[[nodiscard]] JobId trace_job_id(std::uint64_t index) noexcept;

}  // namespace starling
