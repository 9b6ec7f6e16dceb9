// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// What a job takes over from the shell that it was submitted in.
struct Submitter {
  std::string folder;                    ///< whole path; empty: it cannot be told
  std::vector<std::string> environment;  ///< NAME=value
  static Submitter here();
};

/// Puts the submitter's folder and environment below what the job says itself. `directory`: empty
/// is the submitter's folder, a relative one is below that. `choice`: `all`, `none`, or names and
/// NAME=value with commas between them, also after `all`; empty is `all`. Not taken over are
/// STARLING_* but STARLING_FLOCK, for they are of the job that submits, nor `_`, OLDPWD and PWD.
/// `invalid`: what is wrong with the choice; more than a job may have, and what is large.
[[nodiscard]] Status take_over(const Submitter& from, const std::string& directory,
                               const std::string& choice, JobSpec& spec);

}  // namespace starling
