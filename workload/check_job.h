// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/limits.h"
#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// Does this job make sense at all: sizes and ranges, names that can be printed, environment
/// entries of the form NAME=value, nothing above `limits`? Whether a cluster can hold it is not
/// asked here. `invalid` names the field, its value and what would be right.
[[nodiscard]] Status check_job(const JobSpec& spec, const Limits& limits);

}  // namespace starling
