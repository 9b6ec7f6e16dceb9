#pragma once

#include <cstdint>
#include <optional>

#include "launch/jobs/flock_view.h"

namespace starling {

struct FollowOptions {
  bool cancel = false;  ///< Ctrl-C ends the job, as it would a command
  bool json = false;    ///< at its end one object on stdout, and its output on stderr
  bool raw = false;     ///< also what could fool a terminal
  bool lines = false;   ///< output_json() of every line, on stdout
  std::optional<std::uint32_t> rank = {};
  std::uint32_t from_end = 0;
};

/// Prints what the job prints until it has ended; the exit status is the job's (job_table.h).
int follow_job(FlockView& flock, JobId job, const FollowOptions& options);
/// Prints what there is.
int show_output(FlockView& flock, const JobState& state, const FollowOptions& options);

/// "ID finished, exit code 0" on stderr, or the job as JSON on stdout.
void say_end(const FlockView& flock, const JobState& state, bool json);

}  // namespace starling
