// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/jobs/job_options.h"
#include "launch/jobs/submitter.h"
#include "workload/job.h"

namespace starling {

/// What stands on the command line of `submit`.
struct SubmitWords {
  std::vector<std::string> words;  ///< a file, "-", a command, or none
  bool dashes = false;             ///< "--" is before them: they are meant as a command
  JobOptions options;
  std::vector<std::string> flags;              ///< all that `submit` has, to see a misplaced one
  std::function<Result<std::string>()> input;  ///< standard input, whole
};

struct WhatToSubmit {
  std::vector<JobSpec> jobs;  ///< without ids
  JobOptions options;         ///< of the command line, and below them a script's
  bool wait = false;          ///< a script says so
  std::vector<std::string> warnings;
};

/// A job file (.yaml, .yml, .json), a script (job_script.h), either of them on standard input, a
/// command, or no word at all with --duration: a job to emulate. What looks like a file (a path, or
/// with an ending) and is no program here, or like a misplaced option is never taken for a command,
/// nor such an option for a script's argument: the message (`invalid`) says what to write; after
/// "--" words are what they are. Relative paths of commands are below --directory. Every job has
/// the submitter's folder and environment.
[[nodiscard]] Result<WhatToSubmit> what_to_submit(const SubmitWords& said, const Submitter& from);

}  // namespace starling
