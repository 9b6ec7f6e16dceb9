// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agents/step/state.h"
#include "workload/job.h"

namespace starling {

/// Empty if the servers of the data centre, all free, could hold the job; else why not, for people
/// ("needs 33 GPUs; the data centre has 32"). As long as the servers are the same so is the answer:
/// such a job is refused at submission, and one that was accepted before they changed waits.
[[nodiscard]] std::string never_fits(const AgentState& s, const JobSpec& spec);

}  // namespace starling
