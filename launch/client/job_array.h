// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// The jobs that an array (JobSpec::array_tasks) stands for, one for each task, in their order. Its
/// id is the array's; those of the tasks follow from it, so that submitting it again submits it
/// once, and all have the home that its id says among `agents` agents.
[[nodiscard]] std::vector<JobSpec> expand_array(const JobSpec& array, std::uint32_t agents);

}  // namespace starling
