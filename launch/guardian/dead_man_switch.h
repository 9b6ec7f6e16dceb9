// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

namespace starling {

/// The kernel's own word to this process, for when it stands still (SIGSTOP, a debugger, a frozen
/// cgroup) and so does what would wake it: SIGCONT from one time on, every second, and SIGKILL
/// at another. Neither needs any process to run. What is set last counts. Suspension counts for the
/// first and not for the second, or that would kill what wakes late with its machine. A machine
/// that gives no timers (RLIMIT_SIGPENDING) leaves that process without.
class DeadManSwitch {
 public:
  DeadManSwitch();
  ~DeadManSwitch();
  DeadManSwitch(const DeadManSwitch&) = delete;
  DeadManSwitch& operator=(const DeadManSwitch&) = delete;

  /// In nanoseconds since the boot (boot_ns()); kNoDeadline: never.
  void set(std::int64_t wake_ns, std::int64_t kill_ns);

 private:
  std::optional<timer_t> wake_, kill_;
  std::int64_t wake_ns_ = INT64_MAX, kill_at_ns_ = INT64_MAX;  // of the monotonic clock
};

}  // namespace starling
