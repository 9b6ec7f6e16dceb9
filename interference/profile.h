#pragma once

#include "interference/speed.h"
#include "workload/job.h"

namespace starling {

/// The part of a job that its speed depends on.
[[nodiscard]] JobProfile profile_of(const JobSpec& spec);

}  // namespace starling
