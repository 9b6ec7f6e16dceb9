// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>

#include "base/time.h"
#include "launch/guardian/spare_bytes.h"

namespace starling {

/// How much of the jobs' output is kept on a machine.
struct LogLimits {
  std::uint64_t part_bytes = 64ULL << 20U;     ///< of one part, in two files that are rotated
  std::uint64_t all_bytes = 4ULL << 30U;       ///< of all that have ended; the oldest go first
  Duration age = std::chrono::hours(24 * 14);  ///< of what has ended
  Duration every = std::chrono::minutes(1);    ///< that they are looked through
  /// What the folder's disk has room for. The oldest logs go for what runs to have this much.
  std::uint64_t (*spare)(int fd) = spare_bytes;
  std::uint64_t spare_at_least = 256ULL << 20U;
};

/// The folder with the logs of jobs, which does not grow for ever.
class JobLogs {
 public:
  JobLogs(std::filesystem::path folder, LogLimits limits)
      : folder_(std::move(folder)), limits_(limits) {}
  [[nodiscard]] bool due(Instant now) const noexcept { return now >= next_; }
  /// Removes what is too old or too much, and is due again some time later; `kept`: the logs of
  /// what runs.
  void tidy(Instant now, const std::set<std::filesystem::path>& kept);

 private:
  std::filesystem::path folder_;
  LogLimits limits_;
  Instant next_ = Instant::min();
};

}  // namespace starling
