// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace starling {

/// From now on SIGINT, SIGTERM and SIGUSR1 ask this process to stop instead of ending it, and
/// SIGPIPE is ignored. A third request ends it at once. One that was held back until now comes now.
void catch_stop_signals();
/// What they ask for is done within `seconds`, or this process ends at once with status 1 and says
/// so: for one that others wait for, and that may be killed at any time.
void end_within(unsigned seconds);
/// Of a process of a job (STARLING_JOB is set): from now on SIGTERM is ignored. For the command by
/// which a job has itself requeued: SIGTERM comes to all of a job's processes when it is stopped,
/// before that command has its answer, and its caller must not take it for failed.
void outlive_stop_of_job();
/// Asks this process to stop, as they do.
void request_stop() noexcept;
/// True once one has come, or where StopBy says so.
[[nodiscard]] bool stop_requested() noexcept;
/// The same, and what was requested so far is done with: the next one counts anew.
bool take_stop() noexcept;
/// SIGUSR1 has come, and neither of the others: what stops this process starts it again soon, so
/// the jobs that run are left to its next life.
[[nodiscard]] bool jobs_are_kept() noexcept;

/// While it stands, `stop` asks the work of this thread to stop, too, and of no other thread. One
/// at a time in a thread.
class StopBy {
 public:
  explicit StopBy(const std::atomic<bool>& stop) noexcept;
  ~StopBy();
  StopBy(const StopBy&) = delete;
  StopBy& operator=(const StopBy&) = delete;
};

}  // namespace starling
