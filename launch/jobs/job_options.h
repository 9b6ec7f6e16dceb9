// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// One thing that a job can ask for, as an option of `submit`, in a #STARLING line of a script and
/// as a key of a job file.
struct JobOption {
  const char* flag;
  const char* value;  ///< what stands behind it in the help; null: nothing does
  const char* key;
  const char* help;
};
[[nodiscard]] std::span<const JobOption> job_options();
/// Null: there is none of that name.
[[nodiscard]] const JobOption* job_option(const std::string& flag);

/// Options that were given, by flag, as text.
using JobOptions = std::map<std::string, std::string>;

/// Puts them into the job. `invalid` names the option and what would be right. --directory and
/// --environment are left to what knows the submitter (submitter.h), the jobs of --after to what
/// knows the flock (waits_for).
[[nodiscard]] Status set_options(const JobOptions& options, JobSpec& spec);

}  // namespace starling
