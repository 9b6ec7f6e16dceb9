// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "topology/placement.h"
#include "workload/allocation.h"
#include "workload/job.h"

namespace starling {

// A table of structs, mostly one row each:
// clang-format off
// How a job is, as its home tells it and keeps it once the job is over.

/// How a process ended.
struct ExitStatus {
  std::int32_t code = 0;       ///< exit code, or -signal
  bool lost = false;           ///< the host died with it
  std::string log_tail;        ///< its last output lines, at most Limits::log_tail_bytes
  bool timed_out = false;      ///< stopped at its job's time limit
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

enum class JobPhase : std::uint8_t {
  unknown = 0, waiting, starting, running, draining, finished, failed, cancelled, moved
};
[[nodiscard]] const char* name_of(JobPhase phase) noexcept;
[[nodiscard]] constexpr bool terminal(JobPhase p) noexcept {
  return p == JobPhase::finished || p == JobPhase::failed || p == JobPhase::cancelled;
}

/// What a job asked for, as lists of jobs show it. Never changed.
struct JobAsk {
  std::string name, user, queue;
  std::string command;  ///< its beginning, at most kMostCommand bytes
  std::vector<std::string> gpu_types;
  std::uint32_t workers = 1, gpus_per_worker = 1;
  double cpus_per_worker = 0, memory_gib_per_worker = 0;
  std::int32_t priority = 0;
  std::uint32_t min_workers = 0, max_workers = 0;  ///< 0: not elastic, or said by an older version
  RunDetails run = {};  ///< since protocol 5
  JobTerms terms = {};  ///< since protocol 6
  static constexpr std::size_t kMostCommand = 256;
  friend bool operator==(const JobAsk&, const JobAsk&) = default;
};
[[nodiscard]] std::shared_ptr<const JobAsk> ask_of(const JobSpec& spec);
/// That it takes in a record or a frame, about.
[[nodiscard]] std::size_t bytes_of(const JobAsk& ask) noexcept;

/// Why a job that waits is not up for decision, or why one never ran.
enum class JobReason : std::uint8_t {
  none = 0,
  held,              ///< until it is released
  begin,             ///< its time has not come
  dependency,        ///< another job has not ended yet
  retry,             ///< it has failed, and is tried again after a pause
  array_limit,       ///< as many tasks of its array run as may
  dependency_never,  ///< over: another job has ended otherwise than it was to
  quota,             ///< its queue has as many GPUs as it may
};
[[nodiscard]] const char* name_of(JobReason reason) noexcept;

/// Answer to Query, and told unasked to the submitting client at every change of phase: a message (agents/message.h).
struct JobState {
  JobId job; JobPhase phase = JobPhase::unknown; AgentId home;
  Duration queued{0};      ///< accept to first start (so far)
  Duration elapsed{0};     ///< accept to end (so far)
  Duration served{0};      ///< time on GPUs, all attempts
  std::uint32_t attempts = 0, forwards = 0, preemptions = 0;
  Placement placement;     ///< of the running or last attempt
  ExitStatus exit;         ///< if terminal
  // For people; not in what is told unasked while the job is open.
  std::shared_ptr<const JobAsk> ask = {};  ///< none: not said
  Duration submitted{-1};  ///< the date of acceptance by its home's calendar; below zero: not known
  bool begun = false;      ///< it has run: `queued` is over
  Epoch attempt_epoch{}; std::uint64_t attempt_number = 0;  ///< of the running or last attempt; 0: there was none
  Duration requeued{0};    ///< it has waited for so long after its first start, between attempts
  Allocation allocation = {};  ///< of the running or last attempt
  // Since protocol 6.
  JobReason reason = JobReason::none;
  std::uint32_t failures = 0;  ///< attempts that failed and were followed by another; then `exit` is that of the last
  Duration until{0};           ///< with `begin` and `retry`: so long yet
};
/// What the state is called: phase, or what else there is to say: "held", "timeout", ...
[[nodiscard]] const char* state_name(const JobState& state) noexcept;

// clang-format on

}  // namespace starling
