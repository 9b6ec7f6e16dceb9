// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "launch/client/flock_client.h"
#include "launch/commands/slurm/slurm_options.h"
#include "launch/jobs/sbatch_options.h"
#include "workload/job.h"

namespace starling {

/// The options of sbatch and srun that say what a job is, and those that are taken without effect.
[[nodiscard]] std::span<const SlurmOption> slurm_job_options();

/// Those of `said`, over those of a script, in the words of `starling submit`. `invalid`: one that
/// has no meaning here, by its name.
[[nodiscard]] Result<SbatchMeaning> slurm_meaning(const SlurmSaid& said, SbatchOptions script);

/// Where what a job prints goes, as Slurm's users name files: %j, %A, %a, %x, %u, %N, %t, %n, %%.
struct SlurmFiles {
  std::string output, error;  ///< empty error: where the output goes
  bool append = false;
  /// A signal that the script does not get, which would end its shell: as under Slurm what it
  /// starts has to care for it. 0: none.
  std::uint32_t spared = 0;
};
/// Takes `output`, `error`, `open-mode` and `input` out of the options. `invalid`: an input.
[[nodiscard]] Result<SlurmFiles> take_files(SbatchOptions& options);
/// Has the command print into them. `number`: of the job, or of its array.
void print_into(const SlurmFiles& files, const std::string& number, JobSpec& job);

/// An id that makes a short number, for the job or the array, whose home answers.
[[nodiscard]] Result<JobId> short_id(FlockClient& flock);
/// Hands the job, which has an id, or the tasks of its array over. `conflict`: another job has that
/// id.
[[nodiscard]] Status hand_over(FlockClient& flock, const JobSpec& job);
/// Finds the jobs that it is to wait for, by their numbers. `invalid`: none has one of these.
[[nodiscard]] Status find_others(FlockClient& flock, const SbatchMeaning& meaning, JobSpec& job);

/// Checks the job and makes it this user's; GPU types that are not there are told on stderr, by
/// `command`. `invalid`: why it can never run.
[[nodiscard]] Status ready_for(const char* command, FlockClient& flock, JobSpec& job);

}  // namespace starling
