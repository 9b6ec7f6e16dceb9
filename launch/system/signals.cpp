// SPDX-License-Identifier: Apache-2.0
#include "launch/system/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace starling {
namespace {

std::atomic<int> requests{0}, to_keep{0}, taken{0};  // lock-free, so a handler may change them
static_assert(std::atomic<int>::is_always_lock_free);

thread_local const std::atomic<bool>* of_this_thread = nullptr;

std::atomic<unsigned> patience{0};  // seconds from the first request; 0: any

void on_stop(int number) {
  if (number == SIGUSR1) ++to_keep;
  if (++requests >= 3) _exit(130);
  if (patience != 0 && requests == 1) alarm(patience);
}

void on_late(int) {
  constexpr char kLate[] = "stopping: something has kept it for too long since it was told to\n";
  if (write(STDERR_FILENO, kLate, sizeof kLate - 1) < 0) _exit(1);
  _exit(1);
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_stop;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART, so that waits end early
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t held;  // by the parent process, so that none came too early (supervisor.h)
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  sigaddset(&held, SIGTERM);
  sigprocmask(SIG_UNBLOCK, &held, nullptr);
}

void end_within(unsigned seconds) {
  patience = seconds;
  struct sigaction action = {};
  action.sa_handler = on_late;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
}

void outlive_stop_of_job() {
  if (std::getenv("STARLING_JOB") != nullptr) std::signal(SIGTERM, SIG_IGN);
}

void request_stop() noexcept { ++requests; }

bool stop_requested() noexcept {
  return requests > taken || (of_this_thread != nullptr && *of_this_thread);
}

bool take_stop() noexcept {
  const int now = requests;
  return now > taken.exchange(now);
}

bool jobs_are_kept() noexcept { return to_keep > 0 && to_keep == requests; }

StopBy::StopBy(const std::atomic<bool>& stop) noexcept { of_this_thread = &stop; }

StopBy::~StopBy() { of_this_thread = nullptr; }

}  // namespace starling
