// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/command_line/cli.h"
#include "launch/jobs/job_dates.h"

namespace starling {

/// Which jobs are meant, by what stands on the command line of `jobs` and `cancel`.
struct JobFilter {
  std::string users = {}, states = {}, names = {}, queues = {}, since = {};  ///< empty: any
  std::uint32_t last = 0;             ///< the newest so many; 0: all
  std::vector<std::string> ids = {};  ///< ids, or how no other begins

  void add_options(const Command& command);
  /// Something else than all.
  [[nodiscard]] bool any() const;
  /// `invalid`: a state, a date or an id that is none.
  [[nodiscard]] Status check(Date now) const;
  /// Those that are meant, oldest first. `not_found`: an id that no job has; `me`: the user that
  /// "me" stands for.
  [[nodiscard]] Result<std::vector<JobState>> choose(std::vector<JobState> jobs,
                                                     const std::string& me, Date now) const;
};

}  // namespace starling
