// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/dead_man_switch.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "launch/guardian/part_files.h"

namespace starling {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::optional<timer_t> made(clockid_t clock, int signal) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  timer_t timer{};
  if (::timer_create(clock, &event, &timer) != 0) return std::nullopt;
  return timer;
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

void arm(const std::optional<timer_t>& timer, std::int64_t at_ns, std::int64_t every_ns) {
  if (!timer) return;
  itimerspec when{};  // zero: never
  if (at_ns != kNoDeadline) {
    if (at_ns < 1) at_ns = 1;
    when.it_value = {at_ns / kSecond, at_ns % kSecond};
    when.it_interval = {every_ns / kSecond, every_ns % kSecond};
  }
  ::timer_settime(*timer, TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

DeadManSwitch::DeadManSwitch()
    : wake_(made(CLOCK_BOOTTIME, SIGCONT)), kill_(made(CLOCK_MONOTONIC, SIGKILL)) {}

DeadManSwitch::~DeadManSwitch() {
  for (const auto& timer : {wake_, kill_}) {
    if (timer) ::timer_delete(*timer);
  }
}

void DeadManSwitch::set(std::int64_t wake_ns, std::int64_t kill_ns) {
  if (wake_ns != wake_ns_) arm(wake_, wake_ns_ = wake_ns, kSecond);
  const std::int64_t at = kill_ns == kNoDeadline
                              ? kNoDeadline
                              : std::max<std::int64_t>(1, monotonic_ns() + (kill_ns - boot_ns()));
  // The two clocks are read one after the other.
  if (std::abs(at - kill_at_ns_) > kSecond / 10) arm(kill_, kill_at_ns_ = at, 0);
}

}  // namespace starling
