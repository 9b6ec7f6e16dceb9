// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "launch/client/flock_client.h"

namespace starling {

struct FollowOptions {
  bool cancel = false;  ///< Ctrl-C ends the job, as it would a command, and its end is ours
  bool json = false;    ///< at its end one object on stdout, and its output on stderr
  bool raw = false;     ///< also what could fool a terminal
  bool lines = false;   ///< output_json() of every line, on stdout
  std::optional<std::uint32_t> rank = {};
  std::uint32_t from_end = 0;
};

/// Prints what the job prints until it has ended. With `cancel` the exit status is the job's
/// (job_table.h), also where its output cannot be written; after Ctrl-C it waits at most half a
/// minute, ten seconds where no agent answers, and says that the job may go on. Else 0, or 1 as
/// soon as its output cannot be written.
int follow_job(FlockClient& flock, JobId job, const FollowOptions& options);
/// Prints what there is; 1 where it cannot be had or written.
int show_output(FlockClient& flock, const JobState& state, const FollowOptions& options);

/// "ID finished, exit code 0" on stderr, or the job as JSON on stdout.
void say_end(const FlockClient& flock, const JobState& state, bool json);

}  // namespace starling
