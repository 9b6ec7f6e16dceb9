// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/job.h"
#include "workload/text/csv.h"

namespace starling {

/// One row of a trace file on its way to a job: its fields, and where it stands for messages.
struct TraceRow {
  std::span<const std::string_view> fields;
  const std::string& file;
  std::uint64_t line = 0;

  [[nodiscard]] Error wrong(const std::string& what) const {
    return {Errc::invalid, file + ':' + std::to_string(line) + ": " + what};
  }
};

/// What a row turned out to be: a job, or one that cannot run here (no GPU, 0 s).
struct TraceRowJob {
  TraceJob job;
  bool dropped = false;
};

/// Reads the rows of one format. `columns` are the header's fields.
class TraceFormat {
 public:
  virtual ~TraceFormat() = default;
  /// The job of a row; submit times may have any origin that is the same for all rows.
  virtual Result<TraceRowJob> read(const TraceRow& row) = 0;
  /// True if times count from the first row rather than from the file's own zero.
  [[nodiscard]] virtual bool rebased() const noexcept = 0;
};

/// Readers of the two formats; `invalid` if a column is missing or unknown.
[[nodiscard]] Result<std::unique_ptr<TraceFormat>> philly_format(const TraceRow& header);
[[nodiscard]] Result<std::unique_ptr<TraceFormat>> starling_format(const TraceRow& header);

/// How a gang of n GPUs of a trace becomes workers: up to 8 on one worker (one server), multiples
/// of 8 as workers of 8, anything else as n workers of one GPU.
void set_gang(JobSpec& spec, std::uint32_t gpus) noexcept;

/// Most GPUs of one gang that a trace may name; the cluster's own limit is checked at submission.
constexpr std::int64_t kTraceGangMax = 1 << 20;

}  // namespace starling
