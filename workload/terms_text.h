// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "workload/job_terms.h"

namespace starling {

// Terms of a job as people write them: in options, scripts and job files. Errors are `invalid` and
// say what would be right.

/// Seconds ("90", "0.5"), a number with s, m, h or d ("2h"), or as Slurm writes times: "MM:SS",
/// "HH:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS".
[[nodiscard]] Result<Duration> parse_time(std::string_view text);

/// From `now`, nanoseconds since 1970, to the time meant: one of the above with a '+' or "now+"
/// before it ("now+1h"), "now", a date "2027-01-31", "2027-01-31T16:00[:00]", or the next "16:00",
/// by this machine's calendar. What is past is 0.
[[nodiscard]] Result<Duration> parse_begin(std::string_view text, Duration now);

/// "ok:ID,any:ID,notok:ID"; Slurm's "afterok:ID:ID,afterany:ID" means the same. The ids as they are
/// written: whoever knows the flock finds the jobs.
struct AfterText {
  After::How how = After::How::ok;
  std::string job;
};
[[nodiscard]] Result<std::vector<AfterText>> parse_after(std::string_view text);

/// "USR1@60": signal, seconds before the limit (default 60).
struct SignalText {
  std::uint32_t number = 0;
  Duration before{0};
};
[[nodiscard]] Result<SignalText> parse_signal(std::string_view text);

/// "0-999%50", "1,3,5-9:2": ascending, each once; 50 at once.
struct ArrayText {
  std::vector<std::uint32_t> tasks;
  std::uint32_t at_once = 0;
};
[[nodiscard]] Result<ArrayText> parse_array(std::string_view text);
/// "0-2,5" of 0, 1, 2, 5; ascending.
[[nodiscard]] std::string tasks_text(const std::vector<std::uint32_t>& tasks);

}  // namespace starling
