// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/jobs/sbatch_options.h"

namespace starling {

/// A script that is a job: its first line is `#!` and an interpreter; lines of comments above its
/// first command may ask for something, as `#STARLING --gpus 2` (options of submit) or as
/// `#SBATCH`, of which what has a meaning here is understood. What #STARLING says counts more.
struct JobScript {
  std::vector<std::string> interpreter;  ///< words of the first line
  bool shell = false;                    ///< which takes the script's text after -c
  bool asks = false;                     ///< it has such lines
  JobOptions options;
  bool wait = false;                  ///< #SBATCH --wait
  std::vector<std::string> warnings;  ///< what is ignored, a line each
  SbatchOptions slurm;                ///< of its #SBATCH lines, as they are
};

[[nodiscard]] inline bool is_script(std::string_view text) { return text.substr(0, 2) == "#!"; }

/// `name`: of the file, for messages. `invalid` names name:line, what is wrong and what would be
/// right.
[[nodiscard]] Result<JobScript> read_job_script(const std::string& name, const std::string& text);

}  // namespace starling
