// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/jobs/job_options.h"

namespace starling {

/// Options of sbatch, by their long names without dashes. Flags have an empty value.
using SbatchOptions = std::map<std::string, std::string>;

/// Adds the words of one #SBATCH line. `invalid`: a word that is no option, or lacks its value.
[[nodiscard]] Status add_sbatch(const std::vector<std::string>& words, SbatchOptions& options);

struct SbatchMeaning {
  JobOptions options;  ///< --after: jobs as they were written, which Slurm's users do by number
  bool wait = false;
  std::vector<std::string> ignored;  ///< as they are written, with dashes
};
/// What they mean here: a worker is a task. `invalid`: numbers that are none, or that do not go
/// into one another.
[[nodiscard]] Result<SbatchMeaning> meaning_of(SbatchOptions options);

}  // namespace starling
