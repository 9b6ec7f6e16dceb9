// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): the process's wall clock is wrong, as the file says that
// STARLING_CLOCK_FAULTS names:
//   jump_s J rate R      J seconds ahead (below 0: behind), and R times as fast since this was read
// The file is looked at again when its time of change has moved, ten times a second at most. Clocks
// other than the wall clock are right.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kPollEvery = kSecond / 10;

std::atomic<std::int64_t> looked_ns{-kSecond}, changed_ns{-1};
std::atomic<double> jump_s{0}, rate{1};
std::atomic<std::int64_t> since_ns{0};

std::int64_t ns_of(const timespec& t) { return t.tv_sec * kSecond + t.tv_nsec; }

std::int64_t true_ns(clockid_t clock) {
  timespec t{};
  syscall(SYS_clock_gettime, clock, &t);
  return ns_of(t);
}

void read_control(const char* file, std::int64_t now) {
  char text[128] = {};
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return;
  const long size = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  double jump = 0, times = 1;
  if (size <= 0 || std::sscanf(text, "jump_s %lf rate %lf", &jump, &times) != 2) return;
  jump_s = jump;
  since_ns = now;
  rate = times;
}

/// What the wall clock says where it is `now`.
std::int64_t wrong_ns(std::int64_t now) {
  static const char* const file = std::getenv("STARLING_CLOCK_FAULTS");
  if (file == nullptr) return now;
  const std::int64_t steady = true_ns(CLOCK_MONOTONIC_COARSE);
  if (steady - looked_ns >= kPollEvery) {
    looked_ns = steady;
    struct stat s = {};
    if (::stat(file, &s) == 0 && changed_ns.exchange(ns_of(s.st_mtim)) != ns_of(s.st_mtim))
      read_control(file, now);
  }
  const double gained = (rate - 1) * static_cast<double>(now - since_ns);
  return now + static_cast<std::int64_t>(jump_s * static_cast<double>(kSecond) + gained);
}

timespec spec_of(std::int64_t ns) {
  ns = ns < 0 ? 0 : ns;
  return {ns / kSecond, ns % kSecond};
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* t) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int done = real(clock, t);
  if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    *t = spec_of(wrong_ns(ns_of(*t)));
  return done;
}

int gettimeofday(timeval* t, void*) noexcept {
  const timespec s = spec_of(wrong_ns(true_ns(CLOCK_REALTIME)));
  *t = {s.tv_sec, s.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* t) noexcept {
  const time_t s = spec_of(wrong_ns(true_ns(CLOCK_REALTIME))).tv_sec;
  if (t != nullptr) *t = s;
  return s;
}
}
