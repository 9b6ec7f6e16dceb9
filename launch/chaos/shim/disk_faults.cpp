// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): makes writes and syncs of files below one folder fail, as a
// control file says. STARLING_DISK_FOLDER is the folder, STARLING_DISK_FAULTS the control file with
//   full 0|1     every write: ENOSPC
//   error 0|1    every write and sync: EIO
//   errors N     the next N ones since this file said so: EIO (N counts up from run to run of it)
//   sync_ms T    every sync takes so much longer
// It is looked at again when its time of change has moved, fifty times a second at most.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<bool> any{false}, full{false}, error{false};
std::atomic<long> errors_said{0}, errors_done{0}, sync_ms{0};
std::atomic<std::int64_t> looked_ns{0}, changed_ns{-1};

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

void read_control(const char* file) {
  char text[256] = {};
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return;
  const long size = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  int f = 0, e = 0;
  long n = 0, ms = 0;
  if (size <= 0 ||
      std::sscanf(text, "full %d error %d errors %ld sync_ms %ld", &f, &e, &n, &ms) != 4)
    return;
  full = f != 0;
  error = e != 0;
  errors_said = n;
  sync_ms = ms;
  any = f != 0 || e != 0 || n > errors_done || ms > 0;
}

void look() {
  static const char* const file = std::getenv("STARLING_DISK_FAULTS");
  if (file == nullptr) return;
  const std::int64_t now = now_ns();
  if (now - looked_ns < 20'000'000) return;
  looked_ns = now;
  struct stat s = {};
  if (::stat(file, &s) != 0) return;
  const std::int64_t changed = s.st_mtim.tv_sec * std::int64_t{1'000'000'000} + s.st_mtim.tv_nsec;
  if (changed == changed_ns.exchange(changed)) return;
  read_control(file);
}

bool concerned(int fd) {
  static const char* const folder = std::getenv("STARLING_DISK_FOLDER");
  if (folder == nullptr) return false;
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = ::readlink(link, path, sizeof path - 1);
  if (size <= 0) return false;
  path[size] = '\0';
  return std::strncmp(path, folder, std::strlen(folder)) == 0;
}

/// True, with errno, if this write or sync is to fail.
bool fails(int fd, bool sync) {
  const int before = errno;
  look();
  if (!any || !concerned(fd)) {
    errno = before;
    return false;
  }
  if (sync && sync_ms > 0) {
    const timespec t{sync_ms / 1000, (sync_ms % 1000) * 1'000'000};
    ::nanosleep(&t, nullptr);
  }
  if (error) return errno = EIO, true;
  if (errors_done < errors_said) {
    ++errors_done;
    return errno = EIO, true;
  }
  if (full && !sync) return errno = ENOSPC, true;
  errno = before;
  return false;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

/// A process that is started after one error has been told of must not tell of it again.
__attribute__((constructor)) void begin() {
  if (const char* file = std::getenv("STARLING_DISK_FAULTS"); file != nullptr) read_control(file);
  errors_done = errors_said.load();
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return fails(fd, false) ? -1 : real(fd, data, size);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return fails(fd, false) ? -1 : real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return fails(fd, false) ? -1 : real(fd, data, size, at);
}
int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(fd, true) ? -1 : real(fd);
}
int fdatasync(int fd) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return fails(fd, true) ? -1 : real(fd);
}
}
