// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/guardian_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>

asm(".pushsection .rodata\n"
    "starling_guardian_begin:\n"
    ".incbin \"" STARLING_GUARDIAN
    "\"\n"
    "starling_guardian_end:\n"
    ".popsection\n");
extern "C" const unsigned char starling_guardian_begin[];
extern "C" const unsigned char starling_guardian_end[];

namespace starling {
namespace {

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/// The program as a file in memory; -1: the system refuses.
int make_program() {
  int fd = static_cast<int>(
      ::syscall(SYS_memfd_create, "starling-guardian", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC));
  if (fd < 0 && errno == EINVAL)  // before Linux 6.3
    fd = static_cast<int>(
        ::syscall(SYS_memfd_create, "starling-guardian", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto* at = reinterpret_cast<const std::byte*>(starling_guardian_begin);
  const auto* const end = reinterpret_cast<const std::byte*>(starling_guardian_end);
  while (fd >= 0 && at < end) {
    const ssize_t put = ::write(fd, at, static_cast<std::size_t>(end - at));
    if (put <= 0) {
      const int error = errno;
      ::close(fd);
      errno = error;
      return -1;
    }
    at += put;
  }
  if (fd >= 0) ::fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  return fd;
}

/// Between fork and exec: system calls alone.
[[noreturn]] void become(int program, char* const* argv, int null) {
  ::setsid();
  for (int number = 1; number < 65; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::dup2(program, STDERR_FILENO + 1);
  ::fcntl(STDERR_FILENO + 1, F_SETFD, FD_CLOEXEC);
  (void)::syscall(SYS_close_range, STDERR_FILENO + 2U, ~0U, 0U);
  ::syscall(SYS_execveat, STDERR_FILENO + 1, "", argv, ::environ, AT_EMPTY_PATH);
  ::_exit(71);
}

}  // namespace

Result<pid_t> start_guardian(const std::filesystem::path& folder) {
  static int program = -1;
  if (program < 0) program = make_program();
  if (program < 0) return {Errc::io, std::string("no guardian: ") + std::strerror(errno)};
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return {Errc::io, std::string("no guardian: /dev/null: ") + std::strerror(errno)};
  std::string name = "starling-guardian", where = folder.string();
  char* const argv[] = {name.data(), where.data(), nullptr};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // Shares our memory until it is the guardian: an executor with much of it starts one as fast.
  const pid_t child = ::vfork();
  if (child == 0) become(program, argv, null);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(null);
  if (child > 0) return child;
  return {Errc::io, std::string("no guardian: ") + std::strerror(error)};
}

}  // namespace starling
