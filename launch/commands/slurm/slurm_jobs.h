// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/client/flock_client.h"
#include "launch/commands/slurm/slurm_names.h"
#include "launch/jobs/job_dates.h"

namespace starling {

// Jobs in Slurm's words.

/// "PENDING" or, where `shortly`, "PD".
[[nodiscard]] std::string slurm_state(const JobState& state, bool shortly);
/// Why it waits: "Resources", "JobHeldUser", "BeginTime", "Dependency", "JobArrayTaskLimit", ...
[[nodiscard]] std::string slurm_reason(const JobState& state);
/// "123", of a task of an array "123_4".
[[nodiscard]] std::string slurm_id(const JobState& state);
/// "0:05", "1:02:03", "2-01:02:03"; `full`: with hours at least, as "00:00:05".
[[nodiscard]] std::string slurm_span(Duration span, bool full);
/// "2026-11-27T18:00:00" by this machine's clock; none: "Unknown".
[[nodiscard]] std::string slurm_date(const std::optional<Date>& date);
/// How long its present or last attempt has run: since it first started, less what it waited since.
[[nodiscard]] Duration ran_for(const JobState& state);

/// The servers of a job, ascending.
[[nodiscard]] Words nodes_of(const JobState& state, const Topology& topology);
/// "server-[0-3,7],other": names that differ in a number at their end.
[[nodiscard]] std::string host_list(const Words& names);
/// The names that such a list stands for; nothing: it is no list.
[[nodiscard]] std::optional<Words> hosts_in(const std::string& list);

/// The text that each letter of a format such as "%.18i %.2t" stands for; nothing: it has no
/// meaning here.
using Letters = std::function<std::optional<std::string>(char letter)>;
/// A line of that format. `invalid`: a letter that has no meaning here.
[[nodiscard]] Result<std::string> slurm_line(const std::string& format, const Letters& letters);

/// The flock of $STARLING_FLOCK, connected; its error is said.
[[nodiscard]] std::unique_ptr<FlockClient> slurm_flock(const char* command);

/// All jobs, by id, or those that are named ("123", "123_4", with commas); silent agents are named
/// on stderr. An error is said.
[[nodiscard]] std::optional<std::vector<JobState>> slurm_jobs(const char* command,
                                                              FlockClient& flock, const Words& ids);

}  // namespace starling
