// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/background.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/visible.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

constexpr off_t kMostLogBytes = 4 << 20;

int waiting = -1;                // the end of a pipe on which the command waits; -1: none does
std::filesystem::path log_file;  // empty: output is where it was at the start
std::mutex log_mutex;

/// The command that the user waits for: as the child does.
[[noreturn]] void wait_for(pid_t child, int news) {
  catch_stop_signals();
  bool asked = false;
  for (;;) {
    if (stop_requested() && !asked) asked = ::kill(child, SIGTERM) == 0;
    pollfd in{news, POLLIN, 0};
    if (::poll(&in, 1, 200) <= 0) continue;
    char byte = 0;
    if (::read(news, &byte, 1) == 1) ::_exit(0);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
}

Status write_to(const std::filesystem::path& file) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (out < 0) return {Errc::io, file.string() + ": " + std::strerror(errno)};
  std::fflush(stdout);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::close(out);
  return done();
}

void keep_small() {
  struct stat now {};
  if (::fstat(STDERR_FILENO, &now) != 0 || now.st_size < kMostLogBytes) return;
  std::error_code ignored;
  std::filesystem::rename(log_file, log_file.string() + ".1", ignored);
  (void)write_to(log_file);
}

}  // namespace

void ignore_hangup() { std::signal(SIGHUP, SIG_IGN); }

Status enter_background() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {Errc::io, std::string("pipe: ") + std::strerror(errno)};
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) return {Errc::io, std::string("cannot start a process: ") + std::strerror(errno)};
  ::close(ends[child > 0 ? 1 : 0]);
  if (child > 0) wait_for(child, ends[0]);
  ::setsid();
  ignore_hangup();
  waiting = ends[1];
  return done();
}

Status background_ready(const std::filesystem::path& file) {
  if (waiting < 0) return done();
  if (Status opened = write_to(file); !opened.ok()) return opened;
  const std::lock_guard lock(log_mutex);
  log_as("up");
  log_file = file;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
  const char byte = 'r';
  (void)!::write(waiting, &byte, 1);
  ::close(waiting);
  waiting = -1;
  return done();
}

void announce(const std::string& line) {
  const std::lock_guard lock(log_mutex);
  if (log_file.empty()) {
    std::fprintf(stderr, "starling: %s\n", visible(line).c_str());
    return;
  }
  keep_small();
  log_info(visible(line));
}

void tell_service_manager(const std::string& state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  sockaddr_un to{};
  if (name == nullptr || (*name != '/' && *name != '@')) return;
  const std::size_t length = std::strlen(name);
  if (length >= sizeof to.sun_path) return;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, name, length);
  if (*name == '@') to.sun_path[0] = 0;  // in the abstract namespace
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  (void)!::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&to),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
  ::close(fd);
}

}  // namespace starling
