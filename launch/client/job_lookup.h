// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/result.h"
#include "launch/client/client_answers.h"
#include "launch/client/session.h"

namespace starling {

/// Where a job lives and how it is, whichever agent knows; all are asked at once. `not_found` if no
/// agent does, `not_ready` if none of those that answer does and one is silent for three seconds
/// more, or all are for `patience`.
[[nodiscard]] Result<JobState> find_job(Session& session, JobId job,
                                        Duration patience = std::chrono::seconds(10));
/// The same for what a user typed: an id with or without its leading zeros, or the beginning of one
/// job's id. `invalid` if it is no id, or the beginning of several. Whether it is the beginning of
/// one job's alone can only be said if all agents answer: else `not_ready`.
[[nodiscard]] Result<JobState> find_job(Session& session, const std::string& text,
                                        Duration patience = std::chrono::seconds(20));

/// `not_found`: no agent that answered knows the job.
[[nodiscard]] Error unknown_job(const std::string& job);

/// The one of `jobs` with that id, or else whose id alone begins so; null if none does. `invalid`:
/// several do.
[[nodiscard]] Result<const JobState*> job_named(const std::vector<JobState>& jobs,
                                                const std::string& text);

/// The jobs of all agents that answer: the first within ten seconds, each of the others three
/// seconds after it was heard last. One that has not said all within `patience` is silent.
[[nodiscard]] JobsFound all_jobs(Session& session, Duration patience = std::chrono::seconds(60));

}  // namespace starling
