#pragma once

#include <string>

#include "agents/message.h"
#include "base/result.h"
#include "launch/session.h"

namespace starling {

/// Where a job lives and how it is, whichever agent knows. `not_found` if no agent does,
/// `not_ready` if one that might know does not answer.
[[nodiscard]] Result<JobState> find_job(Session& session, JobId job);
/// The same for what a user typed: an id with or without its leading zeros, or the beginning of one
/// job's id. `invalid` if it is no id, or the beginning of several.
[[nodiscard]] Result<JobState> find_job(Session& session, const std::string& text);
/// Every job of every agent, by id. `not_ready` if an agent does not answer.
[[nodiscard]] Result<std::vector<JobState>> all_jobs(Session& session);

/// One row of the table of `starling jobs`, and its heading.
[[nodiscard]] std::vector<std::string> job_heading();
/// `host`: the agent whose process serves the job's home.
[[nodiscard]] std::vector<std::string> job_cells(const JobState& state, AgentId host);
/// An object for --json.
[[nodiscard]] std::string job_json(const JobState& state, AgentId host);

}  // namespace starling
