// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// That another job must have ended, and how.
struct After {
  enum class How : std::uint8_t {
    ok,     ///< it finished
    any,    ///< it ended, however
    not_ok  ///< it failed, was cancelled or ran out of time
  };
  How how = How::ok;
  JobId job;
  friend bool operator==(const After&, const After&) = default;
};
[[nodiscard]] const char* name_of(After::How how) noexcept;

/// When a job may start, how often it is tried and how long an attempt may run. Plain data; a 0 is
/// not said, so JobTerms{} is a job that may start at once, once, for ever.
struct JobTerms {
  bool hold = false;         ///< it waits until it is released
  Duration begin{0};         ///< from its acceptance to the earliest start
  std::vector<After> after;  ///< all of them; each job once
  /// It is tried again so often after attempts that failed; not after those that ran out of time.
  std::uint32_t retries = 0;
  Duration retry_after{0};       ///< before the first of these, then twice as long each time
  Duration time_limit{0};        ///< of an attempt: then SIGTERM, and after a grace SIGKILL
  std::uint32_t signal = 0;      ///< the number of a signal that its processes get
  Duration signal_before{0};     ///< so long before the limit
  JobId array;                   ///< it is a task of this array; zeros: of none
  std::uint32_t task = 0;        ///< its index there
  std::uint32_t tasks = 0;       ///< of the array
  std::uint32_t first_task = 0;  ///< the least index there
  std::uint32_t last_task = 0;   ///< and the largest
  std::uint32_t at_once = 0;     ///< so many tasks of it may run at once

  static constexpr std::size_t kMostAfter = 64;
  static constexpr std::uint32_t kMostRetries = 1000, kMostTask = 9'999'999;
  static constexpr std::uint32_t kMostSignal = 64;
  static constexpr Duration kMostTime = std::chrono::hours(24 * 3650);
  static constexpr Duration kRetryAfter = std::chrono::seconds(10);  ///< where retry_after is 0
  static constexpr Duration kLongestRetry = std::chrono::hours(1);

  [[nodiscard]] bool any() const noexcept { return *this != JobTerms{}; }
  /// Whoever does not know these would start it too early.
  [[nodiscard]] bool delays() const noexcept {
    return hold || begin > Duration{0} || !after.empty() || at_once > 0;
  }
  [[nodiscard]] bool of_array() const noexcept { return array != JobId{}; }
  /// The pause after so many failures, at least one.
  [[nodiscard]] Duration pause_after(std::uint32_t failures) const noexcept;
  friend bool operator==(const JobTerms&, const JobTerms&) = default;
};

/// For people: "held, after ok of JOB, 3 retries, at most 2 h, USR1 60 s before"; empty where
/// nothing is said.
[[nodiscard]] std::string terms_text(const JobTerms& terms);
/// "USR1" of 10; "signal 40" where it has no name here.
[[nodiscard]] std::string signal_name(std::uint32_t number);

}  // namespace starling
