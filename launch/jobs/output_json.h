// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "launch/jobs/rank_lines.h"

namespace starling {

/// A line that a job has printed, and who printed it.
struct OutputLine {
  JobId job;
  std::uint32_t attempt = 0;  ///< 1 for its first
  std::string server;
  RankLine line;
  std::uint64_t gone = 0;  ///< above 0: no line, but so many bytes that are not kept any more
};

/// {"job", "attempt", "server", "rank", "line"} on one line with its end; "cut": true where the
/// line goes on in the next object of its rank, or has no end yet. "rank" is null where the server
/// has several workers and none is named. Of what is gone {"job", "attempt", "server",
/// "gone_bytes"}. ASCII: whatever is no UTF-8 reads U+FFFD.
[[nodiscard]] std::string output_json(const OutputLine& output);

}  // namespace starling
