// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/steps/holder.h"

#include <pthread.h>
#include <sched.h>

namespace starling {
namespace {

void pause_briefly() {
#if defined(__x86_64__)
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
}

std::int64_t nanos(std::chrono::steady_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

}  // namespace

Holder::Holder() : thread_([this] { run(); }) {
  ::pthread_getcpuclockid(thread_.native_handle(), &clock_);
}

Holder::~Holder() {
  until_ns_ = -1;
  until_ns_.notify_one();
  thread_.join();
}

void Holder::hold_until(std::chrono::steady_clock::time_point at) {
  until_ns_ = nanos(at);
  until_ns_.notify_one();
}

std::uint64_t Holder::cpu_ns() const {
  timespec t{};
  ::clock_gettime(clock_, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(t.tv_nsec);
}

void Holder::run() {
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_IDLE, &none);  // this thread alone
  for (;;) {
    until_ns_.wait(0);
    std::int64_t until = 0;
    do {
      pause_briefly();
      until = until_ns_;
    } while (until > 0 && nanos(std::chrono::steady_clock::now()) < until);
    if (until < 0) return;
    until_ns_.compare_exchange_strong(until, 0);  // unless there is a new order already
  }
}

}  // namespace starling
